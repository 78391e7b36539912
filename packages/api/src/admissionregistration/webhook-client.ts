import * as s from '@kruise/schema';

export const serviceReference = s.object(
  'io.k8s.api.admissionregistration.v1.ServiceReference',
  'The Service a webhook is behind.',
  {
    namespace: s.required(1, s.string(), 'Namespace of the Service.'),
    name: s.required(2, s.string(), 'Name of the Service.'),
    path: s.pointer(3, s.string(), 'Path to send requests to, such as /mutate; / if unset.'),
    port: s.pointer(4, s.int32(), 'Port of the Service. Default 443.'),
  },
);
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const webhookClientConfig = s.object(
  'io.k8s.api.admissionregistration.v1.WebhookClientConfig',
  'Connection to a webhook; exactly one of url and service.',
  {
    url: s.pointer(
      3,
      s.string(),
      'URL of the webhook, in the form https://host:port/path. Without user, query and fragment.',
    ),
    service: s.pointer(1, serviceReference, 'Service of the webhook.'),
    caBundle: s.optional(
      2,
      s.bytes(),
      'PEM certificates its own is checked against. Unset: those the server trusts anyway.',
    ),
  },
);
export type WebhookClientConfig = s.TypeOf<typeof webhookClientConfig>;
