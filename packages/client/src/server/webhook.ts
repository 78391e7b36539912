/**
 * Webhooks as functions from a review to its response. The same function is served over HTTPS (`webhook-server.ts`) or
 * called in process. Everything it depends on is in the request, so it can be tested without a server.
 */
import type { AdmissionRequest, AdmissionResponse } from '@kruise/api/admission/admissionreview';
import type { Status } from '@kruise/api/meta/status';
import { isObject, type JsonObject } from '@kruise/machinery/json-value';
import { badRequest, failure, invalid, StatusError, success } from '@kruise/machinery/status';
import type { Cause } from '@kruise/schema/field-error';
import { createJsonPatch } from '../api/json-patch-diff.ts';

/** Handles a review. Throws a StatusError if the input is not a review. */
export type Webhook = (review: unknown) => Promise<unknown>;

/** Admission request for an object of a kind. */
export type AdmissionRequestFor<T> = Omit<AdmissionRequest, 'object' | 'oldObject'> & {
  /** Object after the request; undefined for a deletion. */
  readonly object?: T;
  /** Object before the request; undefined for a creation. */
  readonly oldObject?: T;
};

/** Decision of an admission webhook. */
export type AdmissionDecision<T = unknown> = {
  /** Status of a denied request; undefined if the request is allowed. */
  readonly denial?: Status;
  /** Mutated object. */
  readonly object?: T;
  /** Warnings for the client, whether the request is allowed or denied. */
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: { readonly [key: string]: string };
};

/** Allows the request. */
export function allow(warnings: readonly string[] = []): AdmissionDecision<never> {
  return warnings.length === 0 ? {} : { warnings };
}

/** Denies the request with 403 and a reason. */
export function deny(reason: string): AdmissionDecision<never> {
  return { denial: failure({ code: 403, reason: 'Forbidden', message: reason }) };
}

/** Allows the request and replaces the object. */
export function mutate<T>(object: T, warnings: readonly string[] = []): AdmissionDecision<T> {
  return { object, ...(warnings.length === 0 ? {} : { warnings }) };
}

/** Handler of admission requests. A StatusError that it throws denies the request. */
export type AdmissionHandler<T> = (
  request: AdmissionRequestFor<T>,
) => AdmissionDecision<T> | Promise<AdmissionDecision<T>>;

/**
 * Creates an admission webhook.
 *
 * ```ts
 * const noLatest = admission<Pod>(({ object }) =>
 *   object?.spec?.containers.some(({ image }) => image?.endsWith(':latest')) ? deny('use a fixed version') : allow());
 * ```
 */
export function admission<T>(handler: AdmissionHandler<T>): Webhook {
  return async (review) => {
    const { apiVersion, request } = readReview<AdmissionRequest>(review, admissionVersions, 'AdmissionReview');
    const response = await responseTo(request, handler);
    return { kind: 'AdmissionReview', apiVersion, response };
  };
}

/** Creates a defaulting webhook: `defaulting<CloneSet>(withDefaults)`. Deletions are allowed unchanged. */
export function defaulting<T>(setDefaults: (object: T, request: AdmissionRequestFor<T>) => T): Webhook {
  return admission<T>((request) =>
    request.object === undefined ? allow() : mutate(setDefaults(request.object, request)),
  );
}

/**
 * Creates a validating webhook that reports all field errors: `validating<CloneSet>(validate)`. Deletions are allowed.
 */
export function validating<T>(validate: (object: T, request: AdmissionRequestFor<T>) => Iterable<Cause>): Webhook {
  return admission<T>((request) => {
    if (request.object === undefined) return allow();
    const causes = [...validate(request.object, request)];
    if (causes.length === 0) return allow();
    throw invalid(request.kind, request.name ?? '', causes);
  });
}

/**
 * Creates a conversion webhook.
 *
 * ```ts
 * conversion((object, apiVersion) => ({ ...object, apiVersion }))
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
  // Only the envelope is validated; handlers must validate everything else that they read.
  return { apiVersion: String(apiVersion), request: request as R };
}

async function responseTo<T>(request: AdmissionRequest, handler: AdmissionHandler<T>): Promise<AdmissionResponse> {
  const { uid, object: original } = request;
  let decision: AdmissionDecision<T>;
  try {
    decision = await handler(withoutNulls(request) as AdmissionRequestFor<T>);
  } catch (error) {
    decision = { denial: statusOf(error) };
  }
  const { denial, object, warnings, auditAnnotations } = decision;
  const operations = denial || object === undefined ? [] : createJsonPatch(original, object);
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return {
    uid,
    allowed: denial === undefined,
    ...(denial ? { status: denial } : {}),
    ...(operations.length > 0 ? { patch, patchType: 'JSONPatch' } : {}),
    ...(auditAnnotations ? { auditAnnotations } : {}),
    ...(warnings ? { warnings } : {}),
  };
}

/** Servers send null for a missing object. */
function withoutNulls({ object, oldObject, ...request }: AdmissionRequest): AdmissionRequestFor<unknown> {
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
