//! Values to text: for the terminal and as documents. It decides nothing and prints nothing.

pub mod catalog;
pub mod table;
