//! Tests of the server: what goes over the wire.

mod attacks;
mod captures;
mod compression;
mod literal_rows;
mod metadata;
mod packets;
mod prepared_shared;
mod prepared_types;
mod protocol;
mod statements;
mod stock_client;
#[path = "../support/mod.rs"]
mod support;
mod weak_tls;
