import { type SidecarSet, sidecarSet, sidecarSetV1alpha1 } from '@kruise/api/kruise/sidecarset';
import { sidecarSetMetadataWhiteListKey } from '@kruise/api/kruise/well-known';
import type { Webhook } from '@kruise/client/webhook';
import type { JsonObject } from '@kruise/machinery/json-value';
import { apiVersionOf } from '@kruise/schema/kind';
import { configured } from '../../configuration/kruise-configuration.ts';
import { defaultingWebhook, refuseFaults, validatingWebhook, type WebhookContext } from '../../webhooks/context.ts';
import { sidecarSetConversion } from '../conversion.ts';
import { chosenRevision } from '../history.ts';
import { metadataFault } from './allowlist.ts';
import { defaultSidecarSet } from './default.ts';
import { type ValidationContext, validateSidecarSet } from './validate.ts';

const versions = { v1beta1: sidecarSet, v1alpha1: sidecarSetV1alpha1 };

/** Both versions have all fields with defaults. */
export function sidecarSetDefaulting(): Webhook {
  return defaultingWebhook<SidecarSet>(versions, (given, _old, { object }) => defaultSidecarSet(given, object));
}

/** Errors are reported with the paths of v1beta1, whatever version was sent. */
export function sidecarSetValidating(context: WebhookContext): Webhook {
  return validatingWebhook<SidecarSet>(versions, (object, old) =>
    refuseFaults(validateSidecarSet(stored(object), surroundingsIn(context), old && stored(old)), 500),
  );
}

function stored(object: SidecarSet): SidecarSet {
  const apiVersion = apiVersionOf(sidecarSet);
  // Objects are plain JSON values with narrower types.
  const read =
    object.apiVersion === apiVersion
      ? object
      : (sidecarSetConversion.convert(object as unknown as JsonObject, apiVersion) as unknown as SidecarSet);
  // Volumes are kept as they were sent, so that a missing list is not decoded as null.
  const { volumes, ...spec } = read.spec;
  return { ...read, spec: { ...spec, ...(volumes ? { volumes } : {}) } };
}

function surroundingsIn({ caches, settings: { namespace, gates } }: WebhookContext): ValidationContext {
  const whiteList = configured(caches, namespace, sidecarSetMetadataWhiteListKey);
  const allowsByDefault = gates.SidecarSetPatchPodMetadataDefaultsAllowed;
  return {
    sidecarSets: caches.of(sidecarSet).list(),
    findRevision: (found, choice) => chosenRevision(caches, namespace, found, choice),
    metadataFault: (found) => metadataFault(found, whiteList, { allowsByDefault }),
  };
}
