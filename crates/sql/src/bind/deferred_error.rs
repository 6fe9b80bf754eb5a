//! Errors that MySQL searches for once it knows what all names of the statement stand for: of columns beside
//! groups (1055, 1140) and of ORDER BY beside DISTINCT (3065, 3066).

use super::BindError;
use super::binder::Binder;

/// The error to report of the queries bound so far. MySQL reports one of the innermost queries first, and of
/// the queries side by side within one query that of the last.
#[derive(Debug, Default)]
pub(super) struct DeferredError(Option<Box<BindError>>);

impl DeferredError {
    /// Notes an error of a query whose inner queries are bound. One of theirs comes before it.
    #[cold]
    pub(super) fn note(&mut self, error: BindError) {
        self.0.get_or_insert_with(|| Box::new(error));
    }

    /// Adds `earlier`, of queries beside those of `self` and before them.
    fn after(&mut self, earlier: DeferredError) {
        if self.0.is_none() {
            self.0 = earlier.0;
        }
    }

    /// # Errors  The one to report.
    pub(super) fn take(&mut self) -> Result<(), BindError> {
        self.0.take().map_or(Ok(()), |error| Err(*error))
    }
}

impl<'a, 'c> Binder<'a, 'c> {
    /// What `bind` binds: a query within the current one.
    pub(super) fn within<T>(&mut self, bind: impl FnOnce(&mut Self) -> T) -> T {
        let earlier = std::mem::take(&mut self.deferred);
        let bound = bind(self);
        self.deferred.after(earlier);
        bound
    }

    /// What `bind` binds: an operand of a set operation. Of several operands, MySQL reports the first one's
    /// error, and before the names of the next operand if the set operation is the statement's own.
    pub(super) fn beside<T>(
        &mut self,
        bind: impl FnOnce(&mut Self) -> Result<T, BindError>,
    ) -> Result<T, BindError> {
        let mut earlier = std::mem::take(&mut self.deferred);
        let bound = bind(self)?;
        earlier.after(std::mem::take(&mut self.deferred));
        self.deferred = earlier;
        if self.levels.iter().all(|level| level.sub.is_none() && !level.hidden) {
            self.deferred.take()?;
        }
        Ok(bound)
    }
}
