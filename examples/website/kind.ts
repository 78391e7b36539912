/** A custom kind. The CRD, the type and the validation are derived from it. */
import { kind } from '@kruise/api/meta/kind';
import * as s from '@kruise/schema';

const spec = s.object({
  title: s.optional(s.string(), 'Stands at the top of the page; the name of the object by default.'),
  text: s.required(s.string(), 'Stands below it.'),
  replicas: s.optional(s.int32({ minimum: 0, maximum: 100 }), 'How many servers show it; one by default.'),
});

const status = s.object({
  page: s.optional(s.string(), 'The ConfigMap that holds the page.'),
  readyReplicas: s.optional(s.int32(), 'How many servers show it now.'),
});

export const website = kind('com.example.v1.Website', 'A page of text, and servers that show it.', {
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  plural: 'websites',
  scope: 'Namespaced',
  subresources: ['status'],
  columns: [{ name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' }],
  fields: {
    spec: s.required(spec, 'What it shows.'),
    status: s.optional(status, 'What has become of it.'),
  },
});
export type Website = s.TypeOf<typeof website>;
