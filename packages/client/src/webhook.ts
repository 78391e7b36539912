/**
 * Webhooks as functions: from a review to the review answered. The same one is served over HTTPS (`webhook-server.ts`)
 * or called in the same process; what it decides by is in the request, so it is tested without either.
 */
import type { AdmissionRequest, AdmissionResponse } from '@kruise/api/admission/admissionreview';
import type { Status } from '@kruise/api/meta/status';
import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { badRequest, failure, invalid, StatusError, success } from '@kruise/machinery/status';
import type { Cause } from '@kruise/schema/field-error';
import { jsonPatchOf } from './json-patch-diff.ts';

/** Answers a review. Throws a StatusError if it is none. */
export type Webhook = (review: unknown) => Promise<unknown>;

/** What somebody wants to do with an object of a kind. */
export type RequestFor<T> = Omit<AdmissionRequest, 'object' | 'oldObject'> & {
  /** The object as it would be; absent when it is deleted. */
  readonly object?: T;
  /** The object as it is; absent when it is created. */
  readonly oldObject?: T;
};

/** What a webhook says to it. */
export type Verdict<T = unknown> = {
  /** Why it may not be done; it may where there is none. */
  readonly refusal?: Status;
  /** The object to store instead of the one asked for. */
  readonly object?: T;
  /** What to tell whoever asked, allowed or not. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: { readonly [key: string]: string };
};

/** It may be done. */
export function allow(warnings: readonly string[] = []): Verdict<never> {
  return warnings.length === 0 ? {} : { warnings };
}

/** It may not be done: 403, and why. */
export function deny(reason: string): Verdict<never> {
  return { refusal: failure({ code: 403, reason: 'Forbidden', message: reason }) };
}

/** It may be done, with this object instead of the one asked for. */
export function change<T>(object: T, warnings: readonly string[] = []): Verdict<T> {
  return { object, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** Decides on a request. A StatusError it throws is the refusal. */
export type AdmissionHandler<T> = (request: RequestFor<T>) => Verdict<T> | Promise<Verdict<T>>;

/**
 * A webhook that decides on requests.
 *
 * ```ts
 * const noLatest = admission<Pod>(({ object }) =>
 *   object?.spec?.containers.some(({ image }) => image?.endsWith(':latest')) ? deny('name a version') : allow());
 * ```
 */
export function admission<T>(handler: AdmissionHandler<T>): Webhook {
  return async (review) => {
    const { apiVersion, request } = readReview<AdmissionRequest>(review, admissionVersions, 'AdmissionReview');
    const response = await responseTo(request, handler);
    return { kind: 'AdmissionReview', apiVersion, response };
  };
}

/** A webhook that fills in what was left out: `defaulting<CloneSet>(withDefaults)`. Deletions pass. */
export function defaulting<T>(fill: (object: T, request: RequestFor<T>) => T): Webhook {
  return admission<T>((request) => (request.object === undefined ? allow() : change(fill(request.object, request))));
}

/** A webhook that refuses objects with faults, and names every one of them: `validating<CloneSet>(validate)`. */
export function validating<T>(faultsOf: (object: T, request: RequestFor<T>) => Iterable<Cause>): Webhook {
  return admission<T>((request) => {
    if (request.object === undefined) return allow();
    const causes = [...faultsOf(request.object, request)];
    if (causes.length === 0) return allow();
    throw invalid(request.kind, request.name ?? '', causes);
  });
}

/**
 * A webhook that converts objects to another version.
 *
 * ```ts
 * conversion((object, apiVersion) => (apiVersion === 'example.com/v2' ? toV2(object) : toV1(object)))
 * ```
 */
export function conversion(convert: (object: JsonObject, apiVersion: string) => JsonObject): Webhook {
  return async (review) => {
    type Request = {
      readonly uid: string;
      readonly desiredAPIVersion: string;
      readonly objects: readonly JsonObject[];
    };
    const { apiVersion, request } = readReview<Request>(review, conversionVersions, 'ConversionReview');
    const { uid, desiredAPIVersion, objects } = request;
    try {
      const convertedObjects = objects.map((object) => {
        const made = object['apiVersion'] === desiredAPIVersion ? object : convert(object, desiredAPIVersion);
        return { ...made, apiVersion: desiredAPIVersion };
      });
      return { kind: 'ConversionReview', apiVersion, response: { uid, convertedObjects, result: success() } };
    } catch (error) {
      const response = { uid, convertedObjects: [], result: statusOf(error) };
      return { kind: 'ConversionReview', apiVersion, response };
    }
  };
}

const admissionVersions = ['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'];
const conversionVersions = ['apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'];

function readReview<R extends { readonly uid: string }>(
  review: unknown,
  versions: readonly string[],
  kind: string,
): { readonly apiVersion: string; readonly request: R } {
  if (!isObject(review) || review['kind'] !== kind || !versions.includes(String(review['apiVersion']))) {
    throw badRequest(`expected a ${kind} of ${versions.join(' or ')}`);
  }
  const { apiVersion, request } = review;
  if (!isObject(request) || typeof request['uid'] !== 'string') throw badRequest(`the ${kind} has no request`);
  // Servers send what these kinds say; what a handler reads of it beyond that it has to check for itself.
  return { apiVersion: String(apiVersion), request: request as R };
}

async function responseTo<T>(request: AdmissionRequest, handler: AdmissionHandler<T>): Promise<AdmissionResponse> {
  const { uid, object: original } = request;
  let verdict: Verdict<T>;
  try {
    verdict = await handler(withoutNulls(request) as RequestFor<T>);
  } catch (error) {
    verdict = { refusal: statusOf(error) };
  }
  const { refusal, object, warnings, auditAnnotations } = verdict;
  const operations = refusal || object === undefined ? [] : jsonPatchOf(original, object);
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return {
    uid,
    allowed: refusal === undefined,
    ...(refusal ? { status: refusal } : {}),
    ...(operations.length > 0 ? { patch, patchType: 'JSONPatch' } : {}),
    ...(auditAnnotations ? { auditAnnotations } : {}),
    ...(warnings ? { warnings } : {}),
  };
}

/** Servers say null where there is no object. */
function withoutNulls({ object, oldObject, ...request }: AdmissionRequest): RequestFor<unknown> {
  return {
    ...request,
    ...(object == null ? {} : { object }),
    ...(oldObject == null ? {} : { oldObject }),
  };
}

function statusOf(error: unknown): Status {
  if (error instanceof StatusError) return error.status;
  return failure({
    code: 500,
    reason: 'InternalError',
    message: error instanceof Error ? error.message : String(error),
  });
}
