import { pod } from '@kruise/api/core/pod';
import { containerRecreateRequest } from '@kruise/api/kruise/containerrecreaterequest';
import { type Controller, defineController, watch } from '@kruise/client/controller';
import { type ManagerSettings, workSettings } from '../configuration/settings.ts';
import { decide } from './decide.ts';
import { requestsOfPod } from './mappers.ts';

export function containerRecreateRequestController(settings: ManagerSettings): Controller {
  return defineController({
    ...workSettings(settings, 'containerrecreaterequest'),
    workers: settings.workers['crr'] ?? 3,
    for: containerRecreateRequest,
    watches: [watch(pod, requestsOfPod)],
    observe(caches, key) {
      const request = caches.of(containerRecreateRequest).get(key);
      if (!request) return undefined;
      const { namespace = '' } = request.metadata;
      return { request, pod: caches.of(pod).get({ namespace, name: request.spec.podName }) };
    },
    decide,
  });
}
