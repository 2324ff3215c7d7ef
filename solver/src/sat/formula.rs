use std::ops::Not;

use varisat::{ExtendFormula, ProofFormat, Solver, Var};

use super::budget::Budget;

/// A variable or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit {
    var: usize,
    positive: bool,
}

impl Not for Lit {
    type Output = Self;

    fn not(self) -> Self {
        Self { positive: !self.positive, ..self }
    }
}

impl Lit {
    /// Whether it holds in a model.
    pub fn holds(self, model: &[bool]) -> bool {
        model.get(self.var).is_some_and(|v| *v == self.positive)
    }
}

/// Clauses over numbered variables.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    vars: usize,
    clauses: Vec<Vec<Lit>>,
}

/// What is known of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A value per variable.
    Satisfiable(Vec<bool>),
    /// Assumptions that suffice for the contradiction, ascending.
    Impossible(Vec<Lit>),
    /// The limit was reached.
    GaveUp,
}

impl Formula {
    /// A new variable, as its positive literal.
    pub fn literal(&mut self) -> Lit {
        self.vars += 1;
        Lit { var: self.vars - 1, positive: true }
    }

    /// At least one of the literals holds.
    pub fn clause(&mut self, literals: &[Lit]) {
        self.clauses.push(literals.to_vec());
    }

    /// At most `most` of the literals hold (a sequential counter).
    pub fn at_most(&mut self, most: usize, literals: &[Lit]) {
        if literals.len() <= most {
            return;
        }
        if most == 0 {
            literals.iter().for_each(|l| self.clause(&[!*l]));
            return;
        }
        // below[j]: more than j of the literals so far hold.
        let mut below: Vec<Lit> = Vec::new();
        for (i, &l) in literals.iter().enumerate() {
            let last = i + 1 == literals.len();
            let now: Vec<Lit> = if last { Vec::new() } else { (0..most.min(i + 1)).map(|_| self.literal()).collect() };
            if let Some(first) = now.first() {
                self.clause(&[!l, *first]);
            }
            for (j, old) in below.iter().enumerate() {
                if let Some(same) = now.get(j) {
                    self.clause(&[!*old, *same]);
                }
                if let Some(next) = now.get(j + 1) {
                    self.clause(&[!*old, !l, *next]);
                }
            }
            if below.len() == most {
                self.clause(&[!below[most - 1], !l]);
            }
            below = now;
        }
    }

    /// Solves under assumptions, for about `conflicts` conflicts.
    pub fn solve(&self, assumptions: &[Lit], conflicts: u64) -> Answer {
        let mut solver = Solver::new();
        solver.write_proof(Budget::new(conflicts), ProofFormat::Varisat);
        let vars: Vec<Var> = (0..self.vars).map(|_| solver.new_var()).collect();
        let lit = |l: &Lit| vars[l.var].lit(l.positive);
        for clause in &self.clauses {
            let clause: Vec<varisat::Lit> = clause.iter().map(lit).collect();
            solver.add_clause(&clause);
        }
        let assumed: Vec<varisat::Lit> = assumptions.iter().map(lit).collect();
        solver.assume(&assumed);
        match solver.solve() {
            Ok(true) => {
                let mut values = vec![false; self.vars];
                for l in solver.model().into_iter().flatten() {
                    if let Ok(at) = vars.binary_search(&l.var()) {
                        values[at] = l.is_positive();
                    }
                }
                Answer::Satisfiable(values)
            }
            Ok(false) => {
                let core = solver.failed_core().unwrap_or_default();
                let kept = std::iter::zip(assumptions, &assumed).filter(|(_, a)| core.contains(a));
                let mut kept: Vec<Lit> = kept.map(|(l, _)| *l).collect();
                kept.sort_unstable();
                Answer::Impossible(kept)
            }
            Err(_) => Answer::GaveUp,
        }
    }
}
