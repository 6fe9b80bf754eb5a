//! A TCP proxy before a server: a thread per connection and direction.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What becomes of a client's packet.
pub(crate) enum Fate {
    /// The server gets it.
    Pass,
    /// The client gets this answer, the server nothing.
    Answer(Vec<u8>),
}

/// What a connection does with the client's packets, each with its head of four bytes.
pub(crate) type Habit = Box<dyn FnMut(&mut Vec<u8>) -> Fate + Send>;

/// Listens until the test's process ends; returns the port. `habit` is asked for every connection.
pub(crate) fn before(server: u16, habit: impl Fn() -> Habit + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let habit = Arc::new(habit);
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
            for end in [&client, &server] {
                end.set_nodelay(true).unwrap();
            }
            let (from_server, to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || hand_on(from_server, to_client));
            let habit = habit();
            std::thread::spawn(move || serve(client, server, habit));
        }
    });
    port
}

fn hand_on(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // Either may be gone already.
    let _ = to.shutdown(Shutdown::Both);
}

fn serve(mut client: TcpStream, mut server: TcpStream, mut habit: Habit) {
    let mut packet = Vec::new();
    while read_packet(&mut client, &mut packet).is_ok() {
        let done = match habit(&mut packet) {
            Fate::Pass => server.write_all(&packet),
            Fate::Answer(answer) => client.write_all(&answer),
        };
        if done.is_err() {
            break;
        }
    }
    // As above.
    let _ = server.shutdown(Shutdown::Both);
}

fn read_packet(from: &mut TcpStream, packet: &mut Vec<u8>) -> std::io::Result<()> {
    packet.resize(4, 0);
    from.read_exact(packet)?;
    let length = usize::from(packet[0]) | usize::from(packet[1]) << 8 | usize::from(packet[2]) << 16;
    packet.resize(4 + length, 0);
    from.read_exact(&mut packet[4..])
}

/// A link that is `wait` long: keeps every packet back for that, and for such a share of the whole time since
/// the one before it that a client which waits for its answers sends fewer by `loss` (0.1: a tenth). What a
/// delay was too long, later ones are shorter. Where `wait` is long beside what the server takes, other work
/// on the machine changes little.
pub(crate) fn slow_link(wait: Duration, loss: f64) -> Habit {
    let mut sent: Option<Instant> = None;
    let mut owed = 0.0;
    Box::new(move |_| {
        let arrived = Instant::now();
        // A client that does not wait for an answer is not to be made up for.
        let since = sent.map_or(Duration::ZERO, |sent| (arrived - sent).min(Duration::from_millis(50)));
        owed += (wait + since).as_secs_f64() / (1.0 - loss) - since.as_secs_f64();
        if owed > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(owed));
        }
        let now = Instant::now();
        owed -= (now - arrived).as_secs_f64();
        sent = Some(now);
        Fate::Pass
    })
}
