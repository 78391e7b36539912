import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const controllerRevision = kind('io.k8s.api.apps.v1.ControllerRevision', '', {
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  fields: {
    data: s.optional(2, s.rawExtension(), ''),
    revision: s.required(3, s.int64(), ''),
  },
});
export type ControllerRevision = s.TypeOf<typeof controllerRevision>;
