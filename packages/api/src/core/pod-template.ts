import * as s from '@kruise/schema';
import { objectMeta } from '../meta/object-meta.ts';
import { podSpec } from './pod-spec.ts';

export const podTemplateSpec = s.object('io.k8s.api.core.v1.PodTemplateSpec', '', {
  metadata: s.optional(1, objectMeta, ''),
  spec: s.optional(2, podSpec, ''),
});
export type PodTemplateSpec = s.TypeOf<typeof podTemplateSpec>;
