//! `cc-etl export`: facts and dimensions for other engines, typed, already priced and classified by the views.
//!
//! | file         | what it does                                                                             |
//! |--------------|------------------------------------------------------------------------------------------|
//! | `data_set`   | the data sets of `sql/export`: their columns and statements                              |
//! | `profile`    | what an export may show: hashes names, leaves out or masks text                          |
//! | `rows`       | reads the rows of a data set as typed cells                                              |
//! | `secrets`    | finds secrets in text by the rules of `secrets.tsv`, and masks them                      |
//! | `homes`      | replaces home directories                                                                |
//! | `output`     | standard output, or a file that is renamed when it is whole                              |
//! | `parquet`    | writes a Parquet file                                                                    |
//! | `folder`     | writes a folder of Parquet files: only what differs, and a manifest                      |
//! | `postgres`   | writes a script for psql                                                                 |
//! | `sqlite`     | writes a SQLite database                                                                 |
//!
//! An export is a function of the rows: it depends neither on the clock nor on earlier exports. It recomputes everything
//! and replaces what differs.

pub mod data_set;
pub mod folder;
mod homes;
pub mod output;
mod parquet;
pub mod postgres;
pub mod profile;
pub mod rows;
pub mod secrets;
pub mod sqlite;
