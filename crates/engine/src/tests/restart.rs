//! Opening and closing.
