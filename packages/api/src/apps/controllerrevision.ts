import * as s from '@kruise/schema';
import { kind } from '../meta/kind.ts';

export const controllerRevision = kind(
  'io.k8s.api.apps.v1.ControllerRevision',
  'A snapshot of the state of a workload, for updates and rollbacks. Its data cannot be changed.',
  {
    group: 'apps',
    version: 'v1',
    kind: 'ControllerRevision',
    plural: 'controllerrevisions',
    scope: 'Namespaced',
    fields: {
      data: s.optional(2, s.rawExtension(), 'Recorded state, in a format that the owner defines.'),
      revision: s.required(3, s.int64(), 'Number of the revision; the highest is the newest.'),
    },
  },
);
export type ControllerRevision = s.TypeOf<typeof controllerRevision>;
