import * as s from '@kruise/schema';
import { objectMeta } from '../meta/object-meta.ts';
import { podSpec } from './pod-spec.ts';

export const podTemplateSpec = s.object('io.k8s.api.core.v1.PodTemplateSpec', 'A Pod to be made.', {
  metadata: s.optional(1, objectMeta, 'Labels, annotations and finalizers for the Pod.'),
  spec: s.optional(2, podSpec, 'Specification of the Pod.'),
});
export type PodTemplateSpec = s.TypeOf<typeof podTemplateSpec>;
