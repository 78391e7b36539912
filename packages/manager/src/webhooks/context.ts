/** Dependencies of webhooks, and helpers for their responses. */
import type { Status } from '@kruise/api/meta/status';
import type { NewEvent } from '@kruise/client/actions';
import type { Client } from '@kruise/client/client';
import { type Caches, onceSynced } from '@kruise/client/informer';
import { createScaleTargets, type ScaleTargets } from '@kruise/client/scale-targets';
import {
  type AdmissionDecision,
  type AdmissionHandler,
  type AdmissionRequestFor,
  admission,
  allow,
  mutate,
  type Webhook,
} from '@kruise/client/webhook';
import { failure } from '@kruise/machinery/status';
import { DecodeError } from '@kruise/schema/codec';
import { type Cause, summary } from '@kruise/schema/field-error';
import type { Kind, KubernetesObject } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../configuration/settings.ts';
import { createStatusUpdater, type StatusUpdater } from './status-updater.ts';
import { typed, withDefaults } from './typed.ts';

/** The event source of webhooks. Only budgets record events. */
export const budgetEventSource = 'pub-controller';

/** Dependencies that the caller provides. */
export type WebhookDependencies = {
  readonly settings: ManagerSettings;
  /** Informer caches of the cluster. */
  readonly caches: Caches;
  /** Client for live reads and writes. */
  readonly client: Client;
  /** Reports whether the cluster serves a kind. All kinds are served if omitted. */
  readonly isServed?: (kind: Kind) => boolean;
  /** Clock for delays and the current time. */
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly random: Random;
  /** Called for each deletion that protection refused. */
  readonly onProtected?: (event: ProtectionEvent) => void;
  /** Records an event without waiting for the write. */
  readonly record?: (event: NewEvent) => void;
};

/** Dependencies of webhooks, with shared state. */
export type WebhookContext = WebhookDependencies & {
  readonly statusUpdater: StatusUpdater;
  /** Discovery of custom workload kinds. */
  readonly kinds: ScaleTargets;
};

export function webhookContext(dependencies: WebhookDependencies): WebhookContext {
  return { ...dependencies, statusUpdater: createStatusUpdater(dependencies), kinds: createScaleTargets() };
}

/** A refused deletion, and its user. */
export type ProtectionEvent = {
  readonly event: 'PodUnavailableBudget' | 'DeletionProtection';
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly username: string;
};

/** Returns a webhook that waits for caches to sync, and refuses objects that cannot be decoded. */
export function handler<T>(handle: AdmissionHandler<T>): Webhook {
  return admission<T>(async (request) => {
    try {
      return await onceSynced(() => handle(request));
    } catch (error) {
      if (error instanceof DecodeError) return refuse(400, error.message);
      throw error;
    }
  });
}

/** Refuses a request as OpenKruise does: with a code and a message, without a reason. */
export function refuse(code: number, message: string): AdmissionDecision<never> {
  const denial: Status = failure({ code, message });
  return { denial };
}

/** Allows a request without errors. Otherwise refuses it with all errors and 422, or another code. */
export function refuseFaults(causes: Iterable<Cause>, code = 422): AdmissionDecision<never> {
  const found = [...causes];
  return found.length === 0 ? allow() : refuse(code, summary(found));
}

/** Returns the version of a request's resource. */
export function versionOf({ resource }: AdmissionRequestFor<unknown>): string {
  return resource.version;
}

export function unsupportedVersion(request: AdmissionRequestFor<unknown>): AdmissionDecision<never> {
  return refuse(400, `unsupported version: ${versionOf(request)}`);
}

/** The kind in each version that a webhook handles. */
export type Versions = { readonly [version: string]: Kind };

/** Returns a webhook that sets defaults. `T` is the common part of the versions. */
export function defaultingWebhook<T extends KubernetesObject>(
  versions: Versions,
  fill: (given: T, old: T | undefined, request: AdmissionRequestFor<T>) => T,
): Webhook {
  return handler<T>((request) => {
    const kind = versions[versionOf(request)];
    if (!kind) return unsupportedVersion(request);
    const { object, oldObject } = request;
    // The decoded object has the fields that all versions share.
    const old = oldObject && (typed(kind, oldObject) as T);
    // Create and update requests always have an object.
    return mutate(withDefaults<T>(kind, object as T, (given) => fill(given, old, request)));
  });
}

/** Returns a webhook that validates the new object, and the old one if there is one. */
export function validatingWebhook<T>(
  versions: Versions,
  judge: (object: T, old: T | undefined, request: AdmissionRequestFor<T>) => AdmissionDecision<never>,
): Webhook {
  return handler<T>((request) => {
    const kind = versions[versionOf(request)];
    if (!kind) return unsupportedVersion(request);
    const { object, oldObject } = request;
    // The decoded object has the fields that all versions share.
    return judge(typed(kind, object) as T, oldObject && (typed(kind, oldObject) as T), request);
  });
}

/** Allows a request without an error. Otherwise refuses it. */
export function refuseFault(fault: string | undefined, code: number): AdmissionDecision<never> {
  return fault === undefined ? allow() : refuse(code, fault);
}
