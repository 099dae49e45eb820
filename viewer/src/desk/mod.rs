//! An operator's desk: a process of its own that watches and commands a hub over loopback.
//!
//! ```text
//!   hub process (serve)                                        desk process (the window)
//!   ┌────────────────────────────┐      TCP on 127.0.0.1       ┌─────────────────────────┐
//!   │ Session ◄─ commands ─┐     │ ◄── commands, watches ───── │ Client ─► Model ─► GUI  │
//!   │ sockets, recorder    Server│ ─── snapshots, frames ────► │                         │
//!   └────────────────────────────┘                             └─────────────────────────┘
//! ```
//!
//! The hub never waits for a desk: what a desk does not read is left out and counted, so a window that hangs, is stopped
//! or dies costs the recorder nothing, and a new one finds the hub as it is. A desk has to know the hub's token, which
//! only whoever started the hub and the user's own files tell.
//!
//! Each message is `u32` length, `u8` kind, payload, little-endian:
//!
//! | kind | payload |
//! |---|---|
//! | 1 | JSON of [`ToHub`](message::ToHub) or [`ToDesk`](message::ToDesk) |
//! | 2 | `u32` subject, static record of [`hub::wire`] |
//! | 3 | `u32` subject, frame record of [`hub::wire`] |

pub mod client;
pub mod message;
pub mod place;
mod rows;
mod server;
mod wire;

pub(crate) use rows::Rows;
pub(crate) use server::{Asked, Server};
