import {
  type PersistentPodState,
  persistentPodState,
  persistentPodStateV1alpha1,
} from '@kruise/api/kruise/persistentpodstate';
import type { Webhook } from '@kruise/client/webhook';
import { ParseError } from '@kruise/values/parse-error';
import {
  handler,
  refuse,
  refuseFaults,
  unsupportedVersion,
  versionOf,
  type WebhookContext,
} from '../../webhooks/context.ts';
import { inStoredVersion } from '../../webhooks/stored-version.ts';
import { readAllowlistFrom } from '../allowlist.ts';
import { statesFor } from '../target.ts';
import { validatePersistentPodState } from './validate.ts';

/** Errors are reported with the paths of v1beta1, whatever version was sent. */
export function persistentPodStateValidating({ caches, settings }: WebhookContext): Webhook {
  return handler<PersistentPodState>((request) => {
    const version = versionOf(request);
    if (version !== 'v1alpha1' && version !== 'v1beta1') return unsupportedVersion(request);
    const state = inStoredVersion(persistentPodState, persistentPodStateV1alpha1, request.object);
    const { oldObject } = request;
    const old = oldObject && inStoredVersion(persistentPodState, persistentPodStateV1alpha1, oldObject);
    try {
      const whiteList = readAllowlistFrom(caches, settings.namespace);
      const rivals = statesFor(caches, request.namespace ?? '', state.spec.targetRef);
      return refuseFaults(validatePersistentPodState(state, { whiteList, rivals, old }), 400);
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      const why = `failed to get persistent pod state config white list, error: ${error.message}`;
      return refuse(400, `: Internal error: ${why}`);
    }
  });
}
