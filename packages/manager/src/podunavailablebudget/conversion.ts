import {
  type PodUnavailableBudget,
  podUnavailableBudget,
  podUnavailableBudgetV1alpha1,
} from '@kruise/api/kruise/podunavailablebudget';
import {
  protectOperationsAnnotation as operationsAnnotation,
  protectTotalReplicasAnnotation as totalAnnotation,
} from '@kruise/api/kruise/well-known';
import { badRequest } from '@kruise/machinery/status';
import { quote } from '@kruise/values/go-syntax';
import { parseIntOrString } from '@kruise/values/int-or-string';
import { conversionOf, without } from '../conversion/conversion.ts';

type Operations = NonNullable<PodUnavailableBudget['spec']['protectOperations']>;

const known: readonly string[] = ['DELETE', 'UPDATE', 'EVICT', 'RESIZE'];

/** v1beta1 has fields for values that v1alpha1 keeps in annotations. */
export const podUnavailableBudgetConversion = conversionOf(podUnavailableBudgetV1alpha1, podUnavailableBudget, {
  toStored({ metadata, spec, status }) {
    const { annotations = {} } = metadata;
    const operations = operationsIn(annotations[operationsAnnotation]);
    const total = totalIn(annotations[totalAnnotation]);
    return {
      metadata,
      spec: {
        ...spec,
        ...(operations.length > 0 ? { protectOperations: operations } : {}),
        ...(total === undefined ? {} : { protectTotalReplicas: total }),
      },
      ...(status ? { status } : {}),
    };
  },

  toOlder({ metadata, spec, status }) {
    const { protectOperations = [], protectTotalReplicas, ignoredPodSelector: _, ...rest } = spec;
    const { annotations, ...meta } = metadata;
    const written = {
      ...without(annotations, operationsAnnotation, totalAnnotation),
      ...(protectOperations.length > 0 ? { [operationsAnnotation]: protectOperations.join(',') } : {}),
      ...(protectTotalReplicas === undefined ? {} : { [totalAnnotation]: String(protectTotalReplicas) }),
    };
    return {
      metadata: { ...meta, ...(Object.keys(written).length > 0 ? { annotations: written } : {}) },
      spec: rest,
      ...(status ? { status } : {}),
    };
  },
});

function operationsIn(text = ''): Operations {
  const operations = text.split(',').flatMap((each) => each.trim() || []);
  const wrong = operations.find((each) => !known.includes(each));
  if (wrong) throw badRequest(`invalid ${operationsAnnotation} value ${quote(wrong)}`);
  return operations as unknown as Operations;
}

function totalIn(text = ''): number | undefined {
  if (text === '') return undefined;
  const total = parseIntOrString(text);
  if (typeof total === 'number') return total;
  const why = /^[-+]?\d+$/.test(text) ? 'value out of range' : 'invalid syntax';
  throw badRequest(`failed to parse ${totalAnnotation}: strconv.ParseInt: parsing ${quote(text)}: ${why}`);
}
