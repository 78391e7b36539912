/** What webhooks are made with, and the ways in which they answer. */
import type { Status } from '@kruise/api/meta/status';
import type { NewEvent } from '@kruise/client/actions';
import type { Client } from '@kruise/client/client';
import { type Caches, onceSynced } from '@kruise/client/informer';
import { createScaleTargets, type ScaleTargets } from '@kruise/client/scale-targets';
import {
  type AdmissionHandler,
  admission,
  allow,
  change,
  type RequestFor,
  type Verdict,
  type Webhook,
} from '@kruise/client/webhook';
import { failure } from '@kruise/machinery/status';
import { DecodeError } from '@kruise/schema/codec';
import { type Cause, summary } from '@kruise/schema/field-error';
import type { Kind } from '@kruise/schema/kind';
import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Instant } from '@kruise/values/time';
import type { ManagerSettings } from '../settings.ts';
import { typed, withDefaults } from '../typed.ts';
import { createLedger, type Ledger } from './ledger.ts';

/** Whom the events of webhooks are from: only budgets tell any. */
export const budgetEventSource = 'pub-controller';

/** What webhooks are given. */
export type WebhookMeans = {
  readonly settings: ManagerSettings;
  /** What is known of the cluster. */
  readonly caches: Caches;
  /** For what has to be asked. */
  readonly client: Client;
  /** Whether the cluster has a kind; it has all of them where nothing is said. */
  readonly isServed?: (kind: Kind) => boolean;
  /** For who has to wait; the others ask what time it is. */
  readonly clock: Clock;
  readonly now: () => Instant;
  readonly random: Random;
  /** Told of deletions that were refused for protection's sake. */
  readonly onProtected?: (event: ProtectionEvent) => void;
  /** Records an event, without waiting. */
  readonly record?: (event: NewEvent) => void;
};

/** What they share besides. */
export type WebhookContext = WebhookMeans & {
  readonly ledger: Ledger;
  /** The kinds of workloads that were not known when this was written. */
  readonly kinds: ScaleTargets;
};

export function webhookContext(means: WebhookMeans): WebhookContext {
  return { ...means, ledger: createLedger(means), kinds: createScaleTargets() };
}

/** Something that was not deleted, and who wanted it to be. */
export type ProtectionEvent = {
  readonly event: 'PodUnavailableBudget' | 'DeletionProtection';
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly username: string;
};

/** A webhook that reads from caches waits for them, and refuses what cannot be read as what it should be. */
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

/** A refusal as the reference words it: a code and a message, without a reason. */
export function refuse(code: number, message: string): Verdict<never> {
  const refusal: Status = failure({ code, message });
  return { refusal };
}

/** It may be done if there is nothing wrong with it; else 422, or another code, and every fault. */
export function refuseFaults(causes: Iterable<Cause>, code = 422): Verdict<never> {
  const found = [...causes];
  return found.length === 0 ? allow() : refuse(code, summary(found));
}

/** The version a request speaks of. */
export function versionOf({ resource }: RequestFor<unknown>): string {
  return resource.version;
}

export function unsupportedVersion(request: RequestFor<unknown>): Verdict<never> {
  return refuse(400, `unsupported version: ${versionOf(request)}`);
}

/** The kind in each version that a webhook is asked about. */
export type Versions = { readonly [version: string]: Kind };

/** A webhook that fills in what objects leave out; `T` is what the versions have in common. */
export function filling<T>(
  versions: Versions,
  fill: (given: T, old: T | undefined, request: RequestFor<T>) => T,
): Webhook {
  return handler<T>((request) => {
    const kind = versions[versionOf(request)];
    if (!kind) return unsupportedVersion(request);
    const { object, oldObject } = request;
    // What is read as a version of the kind has what all versions have.
    const old = oldObject && (typed(kind, oldObject) as T);
    // Whoever creates or updates something sends it along.
    return change(withDefaults<T>(kind, object as T, (given) => fill(given, old, request)));
  });
}

/** A webhook that looks at objects as they would be, and as they are where there are any. */
export function judging<T>(
  versions: Versions,
  judge: (object: T, old: T | undefined, request: RequestFor<T>) => Verdict<never>,
): Webhook {
  return handler<T>((request) => {
    const kind = versions[versionOf(request)];
    if (!kind) return unsupportedVersion(request);
    const { object, oldObject } = request;
    // What is read as a version of the kind has what all versions have.
    return judge(typed(kind, object) as T, oldObject && (typed(kind, oldObject) as T), request);
  });
}

/** It may be done if there is no fault; else it is refused for it. */
export function refuseFault(fault: string | undefined, code: number): Verdict<never> {
  return fault === undefined ? allow() : refuse(code, fault);
}
