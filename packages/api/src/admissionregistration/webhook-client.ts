import * as s from '@kruise/schema';


export const serviceReference = s.object('io.k8s.api.admissionregistration.v1.ServiceReference', '', {
  namespace: s.required(1, s.string(), ''),
  name: s.required(2, s.string(), ''),
  path: s.pointer(3, s.string(), ''),
  port: s.pointer(4, s.int32(), ''),
});
export type ServiceReference = s.TypeOf<typeof serviceReference>;

export const webhookClientConfig = s.object('io.k8s.api.admissionregistration.v1.WebhookClientConfig', '', {
  url: s.pointer(3, s.string(), ''),
  service: s.pointer(1, serviceReference, ''),
  caBundle: s.optional(2, s.bytes(), ''),
});
export type WebhookClientConfig = s.TypeOf<typeof webhookClientConfig>;
