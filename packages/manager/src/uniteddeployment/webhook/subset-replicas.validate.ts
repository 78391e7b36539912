import type { Subset } from '@kruise/api/kruise/uniteddeployment';
import { invalidIntOrString, invalidStructure } from '@kruise/api/meta/go-value';
import { type Cause, invalid } from '@kruise/schema/field-error';
import type { IntOrString } from '@kruise/values/int-or-string';
import { ParseError } from '@kruise/values/parse-error';
import { replicasOfShare } from '../shares.ts';

const path = 'spec.topology.subsets';
/** Capacity of a subset without maxReplicas. */
const unlimitedCapacity = 1_000_000;

/**
 * Validates the replicas of subsets: each has replicas, or minReplicas and maxReplicas, but not both, and the sum must
 * not exceed the total.
 */
export function* validateSubsetReplicas(replicas: number | undefined, subsets: readonly Subset[]): Generator<Cause> {
  // OpenKruise uses -1 for missing replicas.
  const total = replicas === -1 ? undefined : replicas;
  const sums = { replicas: 0, minReplicas: 0, maxReplicas: 0 };
  const counts = { replicas: 0, minReplicas: 0, maxReplicas: 0 };
  for (const [index, subset] of subsets.entries()) {
    const figures = { replicas: 0, minReplicas: 0, maxReplicas: unlimitedCapacity };
    for (const field of ['replicas', 'minReplicas', 'maxReplicas'] as const) {
      const share = subset[field];
      if (share !== undefined) {
        counts[field]++;
        figures[field] = yield* validateShare(share, total, `${path}[${index}].${field}`);
      }
      sums[field] += figures[field];
    }
    if (figures.minReplicas > figures.maxReplicas) {
      const detail = `subset[${index}].minReplicas must be less than or equal to maxReplicas`;
      yield invalidIntOrString(`${path}[${index}].minReplicas`, subset.minReplicas ?? 0, detail);
    }
  }
  const isElastic = counts.minReplicas + counts.maxReplicas > 0;
  if (isElastic && counts.replicas > 0) {
    yield invalidStructure(
      path,
      'v1beta1.Subset',
      subsets,
      'subset.Replicas and subset.MinReplicas/subset.MaxReplicas are mutually exclusive in a UnitedDeployment',
    );
  } else if (isElastic) {
    if (total === undefined) {
      yield invalid(path, -1, 'spec.replicas must be not empty if you set subset.minReplicas/maxReplicas');
    }
    if (counts.maxReplicas >= subsets.length) {
      yield invalid(path, counts.maxReplicas, 'at least one subset.maxReplicas must be empty');
    }
    if (sums.minReplicas > sums.maxReplicas) {
      const detail =
        'sum of indicated subset.minReplicas should not be greater than sum of indicated subset.maxReplicas';
      yield invalid(path, sums.minReplicas, detail);
    }
  } else yield* validateSum(sums.replicas, total, { given: counts.replicas, of: subsets.length });
}

/** Returns the number of Pods of a subset; undefined if it cannot be computed. */
function* validateShare(share: IntOrString, total: number | undefined, at: string): Generator<Cause, number> {
  try {
    return replicasOfShare(share, total);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    yield invalidIntOrString(at, share, error.message);
    return 0;
  }
}

function* validateSum(
  sum: number,
  total: number | undefined,
  { given, of }: { readonly given: number; readonly of: number },
): Generator<Cause> {
  if (total === undefined) {
    if (given === of) return;
    const detail = 'if UnitedDeployment replicas is not provided, replicas of all subsets should be provided';
    yield invalid(path, sum, detail);
    return;
  }
  if (sum > total) {
    const detail = `sum of indicated subset replicas ${sum} should not be greater than UnitedDeployment replicas ${total}`;
    yield invalid(path, sum, detail);
  }
  if (given > 0 && given === of && sum !== total) {
    const detail = `if replicas of all subsets are provided, the sum of indicated subset replicas ${sum} should equal UnitedDeployment replicas ${total}`;
    yield invalid(path, sum, detail);
  }
}
