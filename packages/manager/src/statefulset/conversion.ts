import { statefulSet, statefulSetV1alpha1 } from '@kruise/api/kruise/statefulset';
import { conversionOf } from '../conversion/conversion.ts';

/** v1alpha1 lacks the newer fields. The codec of its kind drops them. */
export const statefulSetConversion = conversionOf(statefulSetV1alpha1, statefulSet, {
  toStored: (object) => object,
  toOlder: (object) => object,
});
