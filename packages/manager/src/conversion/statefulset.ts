import { statefulSet, statefulSetV1alpha1 } from '@kruise/api/kruise/statefulset';
import { conversionOf } from './conversion.ts';

/** v1alpha1 has no words for what came later: the codec of its kind leaves that out. */
export const statefulSetConversion = conversionOf(statefulSetV1alpha1, statefulSet, {
  toStored: (object) => object,
  toOlder: (object) => object,
});
