import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import type { Status } from '@kruise/api/meta/status';
import type { FieldSet } from '@kruise/machinery/field-set/field-set';
import type { TrackedKind, Versioned } from '@kruise/machinery/server-side-apply/updater';
import type { Known } from '@kruise/schema/codec';
import type { Draft } from '@kruise/schema/draft';
import type { Cause } from '@kruise/schema/field-error';
import type { Kind } from '@kruise/schema/kind';
import type { MergeType } from '@kruise/schema/merge-type';
import type { PublishedResource } from '@kruise/schema/openapi-v3';
import type { RequestContext } from './context.ts';
import type { DeleteOptions, DeletionPlan } from './handlers/deletion.ts';
import type { Headers, HttpRequest } from './http/http-request.ts';
import type { Cached, KubeObject } from './object.ts';
import type { ObjectStorage } from './objects/object-storage.ts';
import type { TableColumns } from './table/table.ts';

/**
 * One version of a served resource: serializer, strategy, conversion and subresources. Built-in kinds and custom
 * resources share this type.
 */
export type Resource = {
  readonly kind: Kind;
  /** Reports whether a CustomResourceDefinition defines the resource. */
  readonly custom: boolean;
  /** Storage, shared by all versions of a resource. */
  readonly storage: ObjectStorage;
  readonly serializer: Serializer;
  /** Conversion to the storage version and back. */
  readonly conversion: Conversion;
  readonly strategy: Strategy;
  /** Merge type, and the data for field ownership. */
  readonly tracked: TrackedKind;
  /** Fields that a field selector may use besides name and namespace. */
  readonly selectableFields: SelectableFields;
  readonly table: TableColumns;
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** OpenAPI of a custom resource; built-in resources are published together. */
  readonly published?: PublishedResource;
  /** Reports whether the definition is being deleted with its objects; creates are rejected. */
  readonly terminating?: boolean;
  /** Kind in messages, if the objects are stored as another kind. */
  readonly messageKind?: { readonly group: string; readonly kind: string };
  /** Deprecation warning for every response. */
  readonly deprecation?: string;
  /** Annotations that represent fields which this version lacks; they are removed from metadata-only responses. */
  readonly fieldAnnotations?: readonly string[];
};

/** Serializer for objects of one version. */
export type Serializer = {
  /** Decodes the JSON text of a body to a new object and sets defaults. */
  decodeText(text: Uint8Array | string): Decoded;
  /** Decodes a parsed or patched value. Parts that are known to be canonical are shared. */
  decodeValue(value: unknown, known?: Known): Decoded;
  /**
   * Decodes a webhook's result to a new object and sets defaults. Unknown fields are kept for validation by the user's
   * schema: only client input is pruned before admission.
   */
  decodeMutated(value: unknown): Draft<KubeObject>;
  /** Returns the canonical form of an object in this version: fields in order, without empty ones. */
  canonical(object: KubeObject, known?: Known): KubeObject;
  toJson(object: KubeObject): string;
  /** Protobuf codec; absent for custom resources. */
  readonly protobuf?: {
    decode(bytes: Uint8Array): Draft<KubeObject>;
    encode(object: KubeObject): Uint8Array;
  };
};

/** Newly decoded object without other references, with the errors of strict decoding. */
export type Decoded = {
  readonly draft: Draft<KubeObject>;
  /** Strict decoding errors: `unknown field "spec.foo"`, `duplicate field "spec.bar"`. */
  readonly strictErrors: readonly string[];
};

export type Conversion = {
  readonly storageVersion: string;
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  fromStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  /** Converts an object to any version, for kinds with asynchronous conversion. */
  toVersion?(object: KubeObject, apiVersion: string): Promise<Versioned> | undefined;
  /** Converts many stored objects in one batch, if individual conversions are slow. */
  prepare?(objects: readonly KubeObject[]): Promise<void>;
};

export type SelectableFields = {
  /** Reports whether `metadata.namespace` may be selected. */
  readonly namespaced: boolean;
  readonly fields: { readonly [path: string]: (object: KubeObject) => string };
  /** Returns the error message for an unsupported field. */
  readonly unsupported: (path: string) => string;
};

/** Write strategy of an object, or of a part such as its status. */
export type Strategy = {
  /** Allows a PUT to create an object. */
  readonly createOnUpdate: boolean;
  /** Allows a PUT without a resourceVersion. */
  readonly unconditionalUpdate: boolean;
  /** Default propagation policy of a DELETE. */
  readonly propagation: 'Background' | 'Orphan' | 'Unsupported';
  /** DELETE returns the removed object rather than a Status. */
  readonly returnsDeleted: boolean;
  /** Time to live of objects in seconds; absent means forever. */
  readonly ttlSeconds?: number;
  /** Fields that this strategy resets, whatever the client sends; writers do not own them. */
  readonly resetFields?: FieldSet;
  /** Resets fields that clients may not set, and sets fields that only the server knows. */
  prepareForCreate(draft: Draft<KubeObject>, context: RequestContext): void;
  /** generateName is used as the name without a suffix: no generated name could be valid. */
  readonly namesAsAsked?: boolean;
  /** Sets fields that depend on the name and uid of a new object. */
  completeCreate?(draft: Draft<KubeObject>, context: RequestContext): void;
  prepareForUpdate(draft: Draft<KubeObject>, old: KubeObject, context: RequestContext): void;
  validate(object: KubeObject, context: RequestContext): Iterable<Cause>;
  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): Iterable<Cause>;
  /** Checks, after validation, whether the user may reference the objects that the new object references. */
  checkReferences?(object: KubeObject, old: KubeObject | undefined, context: RequestContext): Promise<readonly Cause[]>;
  warnings?(object: KubeObject, old: KubeObject | undefined): Iterable<string>;
  /** Returns the grace period after a DELETE. Absent: no graceful deletion. */
  gracePeriodSeconds?(object: KubeObject, requested: number | undefined): number;
  /** Returns warnings about the options of a DELETE. */
  deletionWarnings?(options: DeleteOptions): Iterable<string>;
  /** Checks the preconditions of a DELETE, for kinds with their own error messages. */
  checkPreconditions?(resource: Resource, object: KubeObject, preconditions: DeleteOptions['preconditions']): void;
  /** Plans a DELETE, for kinds with special rules. */
  planDeletion?(object: KubeObject, options: DeleteOptions, context: RequestContext): DeletionPlan | undefined;
  /** Allocates cluster-wide unique values (addresses, ports) before a write; released if the write fails. */
  reserve?(
    draft: Draft<KubeObject>,
    old: KubeObject | undefined,
    context: RequestContext,
  ): Promise<Reservation | undefined>;
  /** Called after an object is deleted. */
  released?(object: KubeObject, context: RequestContext): Promise<void>;
};

export type Reservation = { commit(): Promise<void>; rollback(): Promise<void> };

/** Field ownership of a view: the owners of the object's fields that the view shows, with the paths of the view. */
export type ViewTracking = {
  readonly tracked: TrackedKind;
  /** Maps the owners of the object to owners of the view. */
  toViewOwners(entries: ObjectMeta['managedFields']): ObjectMeta['managedFields'];
  /** Returns the owners of the object after a write to the view. */
  toObjectOwners(entries: { readonly object: Entries; readonly view: Entries }): Entries;
};

type Entries = ObjectMeta['managedFields'];

/** Subresource of an object. */
export type Subresource =
  /** Part of the same object with another strategy: `status`, `resize`, `approval`. */
  | { readonly type: 'part'; readonly verbs: readonly string[]; readonly strategy: Strategy }
  /** View: another kind made from the object, whose writes update the object: `scale`. */
  | {
      readonly type: 'view';
      readonly kind: Kind;
      readonly verbs: readonly string[];
      readonly serializer: Serializer;
      toView(object: KubeObject): KubeObject;
      /** Returns the field owners after a write to this subresource, if it is not tracked like other writes. */
      owners?(entries: ObjectMeta['managedFields']): ObjectMeta['managedFields'];
      /** Field ownership of the view, if its writers own the fields. */
      readonly tracking?: ViewTracking;
      /** Returns the view for reads, if it differs. */
      read?(object: KubeObject): KubeObject;
      write(view: KubeObject, object: KubeObject): KubeObject;
      validate(view: KubeObject): Iterable<Cause>;
      readonly mergeType: MergeType;
    }
  /** Action by POST: `binding`, `eviction`, `token`. */
  | {
      readonly type: 'action';
      readonly kind: Kind;
      readonly verbs: readonly string[];
      readonly serializer: Serializer;
      act(
        context: RequestContext,
        object: KubeObject,
      ): Promise<{ readonly code: number; readonly object: KubeObject | Status }>;
    }
  /** Connect subresource: `exec`, `log`, `proxy`. */
  | {
      readonly type: 'connect';
      readonly methods: readonly string[];
      /** Runs admission and responds. An error thrown before the response starts is sent as the response. */
      connect(context: RequestContext, httpRequest: HttpRequest, headers: Headers): Promise<void>;
    };

/** Stored object, and the same object in the requested version. */
export type Found = { readonly cached: Cached; readonly object: KubeObject };

/** Returns the kind for messages. */
export function kindInMessages({ messageKind, kind }: Resource): { readonly group: string; readonly kind: string } {
  return messageKind ?? kind;
}
