//! What a run of a query remembers of its subqueries.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use base::memory::StatementAccount;

use crate::answer::Answer;
use crate::answer_memo::AnswerMemo;

/// Results of subqueries. One pointer, for the queries without any.
#[derive(Default)]
pub(crate) struct SubqueryCache(OnceCell<Box<Results>>);

/// Results of subqueries, by ordinal.
#[derive(Default)]
struct Results {
    /// Of those that do not depend on the outer row.
    answers: RefCell<Vec<Option<Rc<Answer>>>>,
    /// Of those that do.
    memos: RefCell<Vec<Option<Box<AnswerMemo>>>>,
}

impl SubqueryCache {
    fn results(&self) -> &Results {
        self.0.get_or_init(Box::default)
    }

    pub(crate) fn get(&self, plan: usize) -> Option<Rc<Answer>> {
        self.0.get()?.answers.borrow().get(plan).cloned().flatten()
    }

    pub(crate) fn put(&self, plan: usize, answer: &Rc<Answer>) {
        let mut answers = self.results().answers.borrow_mut();
        if answers.len() <= plan {
            answers.resize(plan + 1, None);
        }
        answers[plan] = Some(Rc::clone(answer));
    }

    /// The memo of a subquery, which is given back by [`SubqueryCache::put_memo`].
    pub(crate) fn take_memo(&self, plan: usize, account: &Rc<StatementAccount>) -> Box<AnswerMemo> {
        let known = self.results().memos.borrow_mut().get_mut(plan).and_then(Option::take);
        known.unwrap_or_else(|| Box::new(AnswerMemo::new(account)))
    }

    pub(crate) fn put_memo(&self, plan: usize, memo: Box<AnswerMemo>) {
        let mut memos = self.results().memos.borrow_mut();
        if memos.len() <= plan {
            memos.resize_with(plan + 1, || None);
        }
        memos[plan] = Some(memo);
    }
}
