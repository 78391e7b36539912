import * as s from '@kruise/schema';
import { labelSelector } from '../meta/label-selector.ts';

const weightTerm = s.object({
  weight: s.required(s.int32(), 'Added to the priority of a Pod that matches; 0 to 100.'),
  matchSelector: s.required(labelSelector, 'Label selector of the Pods that get the weight; must not be empty.'),
});

const orderTerm = s.object({
  orderedKey: s.required(
    s.string(),
    'A Pod label whose value ends in digits, read as a number: the greater number is updated first.',
  ),
});

/** Priority strategy: the order in which Pods are updated. */
export const updatePriorityStrategy = s.object({
  orderPriority: s.optional(
    s.list(orderTerm),
    'Order by numbers in labels: Pods with the first key, then those with the second, and so on; Pods with no key ' +
      'come before all. Not together with weightPriority.',
  ),
  weightPriority: s.optional(
    s.list(weightTerm),
    'Order by the sum of the weights of all terms that match, greatest first. Not together with orderPriority.',
  ),
});
export type UpdatePriorityStrategy = s.TypeOf<typeof updatePriorityStrategy>;

const scatterTerm = s.object({
  key: s.required(s.string(), 'Label key of the Pods to spread over the update.'),
  value: s.required(s.string(), 'Label value of the Pods to spread over the update.'),
});

/** Scatter strategy: Pods that are spread evenly over the update instead of being updated in a row. */
export const updateScatterStrategy = s.list(scatterTerm);
export type UpdateScatterStrategy = s.TypeOf<typeof updateScatterStrategy>;
