// The steps of two traces by name, those first whose time differs most.

/** What is needed of a span. */
export interface Step {
  name: string;
  duration_ns: number;
  status: string;
}

export interface StepTotal {
  count: number;
  errors: number;
  /** Nanoseconds of all of them together. */
  duration: number;
}

export interface StepPair {
  name: string;
  before: StepTotal;
  after: StepTotal;
}

function totals(steps: Step[]): Map<string, StepTotal> {
  const found = new Map<string, StepTotal>();
  for (const step of steps) {
    const known = found.get(step.name) ?? { count: 0, errors: 0, duration: 0 };
    known.count += 1;
    known.errors += step.status === "error" ? 1 : 0;
    known.duration += step.duration_ns;
    found.set(step.name, known);
  }
  return found;
}

export function compared_steps(before: Step[], after: Step[]): StepPair[] {
  const [old_steps, new_steps] = [totals(before), totals(after)];
  const nothing: StepTotal = { count: 0, errors: 0, duration: 0 };
  const pairs = [...new Set([...old_steps.keys(), ...new_steps.keys()])].map((name) => ({
    name,
    before: old_steps.get(name) ?? nothing,
    after: new_steps.get(name) ?? nothing,
  }));
  const difference = ({ before: one, after: other }: StepPair) => Math.abs(other.duration - one.duration);
  return pairs.sort((a, b) => difference(b) - difference(a));
}
