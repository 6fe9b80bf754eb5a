//! Which transaction must come before which, and cycles of that order.

/// Why one comes before the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The other wrote over its version.
    Ww,
    /// The other read its version.
    Wr,
    /// The other wrote over the version it read.
    Rw,
    /// The same, of a row that was not there, by a range.
    RwRange,
    /// It had been answered before the other began.
    Time,
}

impl Why {
    /// Whether it read what the other replaced.
    pub(crate) fn is_rw(self) -> bool {
        matches!(self, Why::Rw | Why::RwRange)
    }
}

/// An edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    /// The one before.
    pub from: u32,
    /// The one after.
    pub to: u32,
    /// Why.
    pub why: Why,
    /// The key at which they met; 0 for time.
    pub key: u32,
}

/// Edges by the node they leave.
#[derive(Debug)]
pub(crate) struct Graph {
    edges: Vec<Edge>,
    /// Where each node's edges begin, and the end of the last's.
    begins: Vec<u32>,
}

impl Graph {
    /// A graph of `nodes` nodes.
    pub(crate) fn new(nodes: usize, mut edges: Vec<Edge>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let mut begins = vec![0; nodes + 1];
        for edge in &edges {
            begins[edge.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            begins[node + 1] += begins[node];
        }
        Graph { edges, begins }
    }

    /// All edges.
    pub(crate) fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Those that leave `node`.
    pub(crate) fn leaving(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.begins[node] as usize..self.begins[node + 1] as usize]
    }

    /// The number of the strongly connected component of each node, by edges that `takes` takes (Tarjan).
    pub(crate) fn components(&self, takes: impl Fn(&Edge) -> bool) -> Vec<u32> {
        const NONE: u32 = u32::MAX;
        let nodes = self.begins.len() - 1;
        let (mut index, mut low) = (vec![NONE; nodes], vec![0; nodes]);
        let mut component = vec![NONE; nodes];
        let (mut stack, mut calls) = (Vec::new(), Vec::<(u32, u32)>::new());
        let (mut next, mut components) = (0, 0);
        for root in 0..nodes as u32 {
            if index[root as usize] != NONE {
                continue;
            }
            calls.push((root, self.begins[root as usize]));
            while let Some(&mut (node, ref mut at)) = calls.last_mut() {
                let this = node as usize;
                if index[this] == NONE {
                    (index[this], low[this]) = (next, next);
                    next += 1;
                    stack.push(node);
                }
                if *at < self.begins[this + 1] {
                    let edge = &self.edges[*at as usize];
                    let to = edge.to as usize;
                    if !takes(edge) || component[to] != NONE {
                        *at += 1;
                    } else if index[to] == NONE {
                        calls.push((edge.to, self.begins[to]));
                    } else {
                        *at += 1;
                        low[this] = low[this].min(low[to]);
                    }
                    continue;
                }
                if low[this] == index[this] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = components;
                        if member == node {
                            break;
                        }
                    }
                    components += 1;
                }
                calls.pop();
            }
        }
        component
    }

    /// A short way from one node to another by edges that `takes` takes; reads no more than `budget`
    /// nodes.
    pub(crate) fn path(
        &self,
        from: u32,
        to: u32,
        budget: usize,
        takes: impl Fn(&Edge) -> bool,
    ) -> Option<Vec<Edge>> {
        let mut came_by = std::collections::HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.leaving(node).iter().filter(|edge| takes(edge)) {
                if edge.to == to {
                    let mut path = vec![*edge];
                    while let Some(last) = path.last().filter(|edge| edge.from != from) {
                        path.push(came_by[&last.from]);
                    }
                    path.reverse();
                    return Some(path);
                }
                if came_by.len() < budget && edge.to != from && !came_by.contains_key(&edge.to) {
                    came_by.insert(edge.to, *edge);
                    queue.push_back(edge.to);
                }
            }
        }
        None
    }

    /// A cycle by edges that `takes` takes, if there is one; not the shortest of all.
    pub(crate) fn cycle(&self, takes: impl Fn(&Edge) -> bool + Copy) -> Option<Vec<Edge>> {
        let components = self.components(takes);
        let inside =
            |edge: &Edge| takes(edge) && components[edge.from as usize] == components[edge.to as usize];
        let first = self.edges.iter().filter(|edge| edge.from != edge.to && inside(edge)).take(20);
        let close = |edge: &Edge| {
            let mut path = self.path(edge.to, edge.from, usize::MAX, inside)?;
            path.push(*edge);
            Some(path)
        };
        first.filter_map(close).min_by_key(Vec::len)
    }
}
