import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';
import { podTemplateSpec } from './pod-template.ts';

export const podTemplate = kind(
  'io.k8s.api.core.v1.PodTemplate',
  'PodTemplate is a Pod template as a separate object.',
  {
    group: '',
    version: 'v1',
    kind: 'PodTemplate',
    plural: 'podtemplates',
    scope: 'Namespaced',
    fields: {
      template: s.optional(2, podTemplateSpec, 'The Pod to be made.'),
    },
  },
);
export type PodTemplate = s.TypeOf<typeof podTemplate>;
