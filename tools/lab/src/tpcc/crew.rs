//! Terminals of one thread: their transactions are futures, run whenever their answers arrive.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};

/// When a pausing terminal continues.
#[derive(Debug, Default)]
pub(super) struct Alarm(Cell<Option<Instant>>);

impl Alarm {
    /// Waits for so long.
    pub(super) async fn after(&self, time: Duration) {
        let end = Instant::now() + time;
        poll_fn(|_| {
            let is_over = Instant::now() >= end;
            self.0.set((!is_over).then_some(end));
            if is_over { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

/// A terminal at work.
pub(super) struct Member<'a, T> {
    /// What tells that an answer has arrived.
    pub(super) socket: OwnedFd,
    /// Of its pauses.
    pub(super) alarm: Rc<Alarm>,
    /// Its work.
    pub(super) work: Pin<Box<dyn Future<Output = T> + 'a>>,
}

/// Runs all members to their ends; returns what they came to, in their order.
///
/// A member must wait for nothing but its socket and its alarm, and for its socket only once that is empty.
///
/// # Errors  The kernel refuses to watch the sockets.
pub(super) fn run<T>(mut members: Vec<Member<'_, T>>) -> io::Result<Vec<T>> {
    let watch = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    // Each arrival is reported once: a socket that was emptied is not read again.
    let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
    for (number, member) in members.iter().enumerate() {
        epoll::add(&watch, &member.socket, epoll::EventData::new_u64(number as u64), flags)?;
    }
    let mut outcomes: Vec<Option<T>> = members.iter().map(|_| None).collect();
    let mut ready: Vec<usize> = (0..members.len()).collect();
    let mut events = Vec::with_capacity(members.len());
    loop {
        for at in ready.drain(..) {
            if outcomes[at].is_some() {
                continue;
            }
            let context = &mut Context::from_waker(Waker::noop());
            if let Poll::Ready(outcome) = members[at].work.as_mut().poll(context) {
                outcomes[at] = Some(outcome);
                epoll::delete(&watch, &members[at].socket)?;
            }
        }
        if outcomes.iter().all(Option::is_some) {
            return Ok(outcomes.into_iter().flatten().collect());
        }
        await_any(&watch, &members, &mut events, &mut ready)?;
    }
}

/// Waits until a member can continue, and puts the numbers of all that can into `ready`.
fn await_any<T>(
    watch: &OwnedFd,
    members: &[Member<'_, T>],
    events: &mut Vec<epoll::Event>,
    ready: &mut Vec<usize>,
) -> io::Result<()> {
    let earliest = members.iter().filter_map(|member| member.alarm.0.get()).min();
    let left = earliest.map(|alarm| alarm.saturating_duration_since(Instant::now()));
    let timeout = left.and_then(|left| Timespec::try_from(left).ok());
    events.clear();
    match epoll::wait(watch, rustix::buffer::spare_capacity(events), timeout.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    ready.extend(events.iter().map(|event| event.data.u64() as usize));
    if earliest.is_some() {
        let now = Instant::now();
        let is_due = |member: &Member<'_, T>| member.alarm.0.get().is_some_and(|alarm| alarm <= now);
        ready.extend((0..members.len()).filter(|&at| is_due(&members[at])));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn members_go_on_when_bytes_arrive_or_their_pause_is_over() {
        let (mut near, far) = UnixStream::pair().unwrap();
        let (_silent, pausing) = UnixStream::pair().unwrap();
        let alarms = [Rc::new(Alarm::default()), Rc::new(Alarm::default())];
        let order = Rc::new(Cell::new(Vec::new()));
        let note = |name: &'static str| {
            let mut names = order.take();
            names.push(name);
            order.set(names);
        };
        let mut seen = false;
        let receiving =
            poll_fn(|_| if std::mem::replace(&mut seen, true) { Poll::Ready(()) } else { Poll::Pending });
        let pause = Rc::clone(&alarms[1]);
        let members = vec![
            Member {
                socket: far.into(),
                alarm: Rc::clone(&alarms[0]),
                work: Box::pin(async {
                    receiving.await;
                    note("received");
                }),
            },
            Member {
                socket: pausing.into(),
                alarm: Rc::clone(&alarms[1]),
                work: Box::pin(async {
                    pause.after(Duration::from_millis(5)).await;
                    near.write_all(b"x").unwrap();
                    note("paused");
                }),
            },
        ];
        assert_eq!(run(members).unwrap().len(), 2);
        assert_eq!(order.take(), ["paused", "received"]);
    }
}
