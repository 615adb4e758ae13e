//! The catalogue against the data that it is made from and against what the Azure provider would compute.

mod assumed;
mod embedded;
mod estimates;
mod given;
mod names;
mod oracle;
mod refused;
mod shared;
mod shown;
