//! The program as its users meet it: commands, flags, files, the book and the recipes, beside real tools.

mod against;
mod book;
mod chart;
mod examples;
mod explain;
mod flags;
mod folders;
mod forms;
mod generated;
mod git;
mod live;
mod neighbours;
#[path = "../support/pages.rs"]
mod pages;
mod recipes;
mod reference;
mod review_recipes;
mod scripted;
mod scripts;
#[path = "../support/shared.rs"]
mod shared;
#[path = "../support/shell.rs"]
mod shell;
mod stories;
#[path = "../support/structural.rs"]
mod structural;
mod terminal;
mod tools;
mod validate;
