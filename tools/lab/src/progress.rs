//! How far a long run is, and how long it will still take: a bar on a terminal, else a plain line now and
//! then.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(20);

/// Progress in steps that cost about the same.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// What the steps are, in the plural.
    what: &'static str,
    steps: u64,
    done: u64,
    /// Time that the steps which are done took.
    took: Duration,
    last_step: Instant,
    last_line: Instant,
    /// When all is to be over, whatever the steps cost.
    end: Option<Instant>,
}

impl Progress {
    /// Of no steps yet.
    pub fn new(what: &'static str, end: Option<Instant>) -> Progress {
        let style =
            ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let now = Instant::now();
        Progress {
            bar: ProgressBar::new(0).with_style(style),
            what,
            steps: 0,
            done: 0,
            took: Duration::ZERO,
            last_step: now,
            last_line: now.checked_sub(PLAIN_EVERY).unwrap_or(now),
            end,
        }
    }

    /// Adds steps that are to be done. Time since the last one was for something else.
    pub fn expect(&mut self, more: usize) {
        self.steps += more as u64;
        self.bar.set_length(self.steps);
        self.last_step = Instant::now();
    }

    /// Takes steps away.
    pub fn drop_steps(&mut self, fewer: usize) {
        self.steps -= (fewer as u64).min(self.steps);
        self.bar.set_length(self.steps);
    }

    /// Says what is being done.
    pub fn tell(&mut self, doing: &str) {
        let text = self.line(doing);
        if !self.bar.is_hidden() {
            self.bar.set_message(text);
        } else if self.last_line.elapsed() >= PLAIN_EVERY {
            eprintln!("lab: {text}");
            self.last_line = Instant::now();
        }
    }

    /// A step is over.
    pub fn step(&mut self) {
        self.done += 1;
        self.took += self.last_step.elapsed();
        self.last_step = Instant::now();
        self.bar.set_position(self.done);
    }

    /// Says something that is to stay.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("lab: {text}"));
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, doing: &str) -> String {
        let of_all = if self.steps == 0 {
            String::new()
        } else {
            format!("{} of {} {}, ", self.done, self.steps, self.what)
        };
        let left = self.left().map_or(String::new(), |left| format!("about {} left: ", in_words(left)));
        format!("{of_all}{left}{doing}")
    }

    /// None: nothing is known yet.
    fn left(&self) -> Option<Duration> {
        let until_end = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        if self.done == 0 {
            return until_end;
        }
        let steps = u32::try_from(self.steps.saturating_sub(self.done)).unwrap_or(u32::MAX);
        let by_steps = (self.took / u32::try_from(self.done).unwrap_or(u32::MAX)).saturating_mul(steps);
        Some(until_end.map_or(by_steps, |end| end.min(by_steps)))
    }
}

/// In the largest unit that leaves a number worth reading.
fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds @ 100..6000 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_from_the_steps_done_and_never_beyond_the_end() {
        let mut progress = Progress::new("cells", None);
        assert_eq!(progress.line("loading"), "loading");
        progress.expect(10);
        assert_eq!(progress.line("a"), "0 of 10 cells, a");
        progress.step();
        progress.step();
        progress.took = Duration::from_secs(120);
        assert_eq!(progress.line("a"), "2 of 10 cells, about 8 min left: a");
        progress.drop_steps(7);
        assert_eq!(progress.line("a"), "2 of 3 cells, about 60 s left: a");
        progress.end = Some(Instant::now());
        assert_eq!(progress.line("a"), "2 of 3 cells, about 0 s left: a");
    }

    #[test]
    fn times_are_told_in_their_unit() {
        let of = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!((of(99), of(170), of(7260)), ("99 s".into(), "3 min".into(), "2 h 1 min".into()));
    }
}
