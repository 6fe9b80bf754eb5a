//! A whole connection: greeting, login and commands, from the first byte to the end.

use crate::Bytes;
use crate::client::Script;
use crate::mounted::with_tables;

/// The first byte selects how the rest is sent: as it is, as packets before the login, or as commands after
/// it.
pub fn run(input: &[u8]) {
    let mut input = Bytes::new(input);
    let script = match input.u8() % 4 {
        0 => {
            let mut script = Script::default();
            script.raw(input.rest());
            script
        }
        1 => {
            let mut script = Script::logged_in();
            script.raw(input.rest());
            script
        }
        2 => packets(input, Script::default(), 1),
        _ => commands(input),
    };
    // Any command may have changed something.
    with_tables(&script, false);
}

/// Packets of an exchange: numbers go up.
fn packets(mut input: Bytes<'_>, mut script: Script, first: u8) -> Script {
    let mut sequence = first;
    while !input.is_empty() {
        let len = input.u16();
        script.packet(sequence, input.take(usize::from(len)));
        // The server answers each with one packet.
        sequence = sequence.wrapping_add(2);
    }
    script
}

/// Commands of a client that is logged in.
fn commands(mut input: Bytes<'_>) -> Script {
    let mut script = Script::logged_in();
    while !input.is_empty() {
        let (code, len) = (input.u8() % 0x24, input.u16());
        script.command(code, input.take(usize::from(len)));
    }
    script
}
