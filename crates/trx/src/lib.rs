//! trx
