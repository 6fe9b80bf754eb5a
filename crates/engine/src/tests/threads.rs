//! Many threads.
