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
import type { Exchange, Headers } from './http/exchange.ts';
import type { Cached, KubeObject } from './object.ts';
import type { ObjectStorage } from './storage/object-storage.ts';
import type { TableColumns } from './table/table.ts';

/**
 * One version of a resource as the server offers it: how its objects are read and written down, the rules they obey,
 * and what else can be done with them. Built-in kinds and custom resources look the same from here on.
 */
export type Resource = {
  readonly kind: Kind;
  /** Whether it came from a CustomResourceDefinition. */
  readonly custom: boolean;
  /** All versions of a resource share one storage. */
  readonly storage: ObjectStorage;
  readonly serializer: Serializer;
  /** To the version objects are stored in, and back to this one. */
  readonly conversion: Conversion;
  readonly strategy: Strategy;
  /** How its objects merge, and what is needed to say who owns which field. */
  readonly tracked: TrackedKind;
  /** The fields a field selector may name, beyond the name and namespace, and how to read them. */
  readonly selectableFields: SelectableFields;
  readonly table: TableColumns;
  readonly subresources: ReadonlyMap<string, Subresource>;
  /** How OpenAPI tells of it, for custom resources; built-in ones are published all together. */
  readonly published?: PublishedResource;
  /** Its definition is being deleted, and its objects with it: nothing new is created. */
  readonly terminating?: boolean;
  /** What messages call the kind, where its objects are those of another. */
  readonly calledKind?: { readonly group: string; readonly kind: string };
  /** A text each answer carries in a Warning header: the version is deprecated. */
  readonly deprecation?: string;
  /** Annotations that stand for fields this version does not have: who asks for metadata alone does not see them. */
  readonly fieldAnnotations?: readonly string[];
};

/** How objects of one version look on the wire. */
export type Serializer = {
  /** A fresh object of the JSON text of a body, defaults filled in. */
  decodeText(text: Uint8Array | string): Decoded;
  /** The same of a value already parsed, or made by a patch: parts known to be as they should be are shared. */
  decodeValue(value: unknown, known?: Known): Decoded;
  /**
   * A fresh object of what a webhook made of one, defaults filled in. Nothing is dropped that a schema of users is to
   * judge: only what clients send is cleaned before it is looked at.
   */
  decodeMutated(value: unknown): Draft<KubeObject>;
  /** The object as this version writes it: fields in their order, empty ones left out. */
  canonical(object: KubeObject, known?: Known): KubeObject;
  toJson(object: KubeObject): string;
  /** Absent for custom resources. */
  readonly protobuf?: {
    decode(bytes: Uint8Array): Draft<KubeObject>;
    encode(object: KubeObject): Uint8Array;
  };
};

/** An object just decoded, which nobody else holds, and what strict decoding has against the text it came from. */
export type Decoded = {
  readonly draft: Draft<KubeObject>;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`. */
  readonly strictErrors: readonly string[];
};

export type Conversion = {
  readonly storageVersion: string;
  toStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  fromStorage(object: KubeObject): KubeObject | Promise<KubeObject>;
  /** Any object in any version there is, for kinds whose versions take time to convert. */
  toVersion?(object: KubeObject, apiVersion: string): Promise<Versioned> | undefined;
  /** Makes many objects ready at once to come from storage, where one by one would take long. */
  prepare?(objects: readonly KubeObject[]): Promise<void>;
};

export type SelectableFields = {
  /** Whether `metadata.namespace` may be asked for. */
  readonly namespaced: boolean;
  readonly fields: { readonly [path: string]: (object: KubeObject) => string };
  /** What a field that cannot be selected by is told. */
  readonly unsupported: (path: string) => string;
};

/** The rules of one way to write an object: the object itself, or a part of it such as its status. */
export type Strategy = {
  /** PUT to a name that does not exist creates. */
  readonly createOnUpdate: boolean;
  /** PUT without a resourceVersion replaces whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** What becomes of dependents when a DELETE does not say. */
  readonly propagation: 'Background' | 'Orphan' | 'Unsupported';
  /** DELETE answers with the object removed rather than with a Status. */
  readonly returnsDeleted: boolean;
  /** How long objects live, in seconds, if not for ever. */
  readonly ttlSeconds?: number;
  /** Fields this way of writing does not touch, whatever the client sends; nobody comes to own them by it. */
  readonly resetFields?: FieldSet;
  /** Resets what clients may not set and fills in what only the server knows. */
  prepareForCreate(draft: Draft<KubeObject>, context: RequestContext): void;
  /** A name that is asked for by its beginning is the beginning itself: nothing that is added could be right. */
  readonly namesAsAsked?: boolean;
  /** Fills in what depends on the name and uid of a new object, which are known only now. */
  completeCreate?(draft: Draft<KubeObject>, context: RequestContext): void;
  prepareForUpdate(draft: Draft<KubeObject>, old: KubeObject, context: RequestContext): void;
  validate(object: KubeObject, context: RequestContext): Iterable<Cause>;
  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): Iterable<Cause>;
  /** Asked once nothing else is wrong: whether the writer may refer to what the object refers to. */
  mayWrite?(object: KubeObject, old: KubeObject | undefined, context: RequestContext): Promise<readonly Cause[]>;
  warnings?(object: KubeObject, old: KubeObject | undefined): Iterable<string>;
  /** How long the object stays after a DELETE so that what it stands for can end. Absent: not at all. */
  gracePeriodSeconds?(object: KubeObject, asked: number | undefined): number;
  /** What whoever sends a DELETE with such options should know. */
  deletionWarnings?(options: DeleteOptions): Iterable<string>;
  /** Refuses a DELETE that means another object, for kinds that do so in their own words. */
  checkPreconditions?(resource: Resource, object: KubeObject, preconditions: DeleteOptions['preconditions']): void;
  /** What a DELETE comes to, for kinds that do not follow the usual rules. */
  planDeletion?(object: KubeObject, options: DeleteOptions, context: RequestContext): DeletionPlan | undefined;
  /** Takes hold of what must be unique in the cluster (addresses, ports) before a write; given back if it fails. */
  reserve?(
    draft: Draft<KubeObject>,
    old: KubeObject | undefined,
    context: RequestContext,
  ): Promise<Reservation | undefined>;
  /** Called after an object is gone. */
  released?(object: KubeObject, context: RequestContext): Promise<void>;
};

export type Reservation = { commit(): Promise<void>; rollback(): Promise<void> };

/** Who owns the fields of a view: those who own what it shows of the object, under the names they have there. */
export type ViewTracking = {
  readonly tracked: TrackedKind;
  /** The owners of the view, of those of the object. */
  shown(entries: ObjectMeta['managedFields']): ObjectMeta['managedFields'];
  /** The owners of the object after a write to the view. */
  written(entries: { readonly object: Entries; readonly view: Entries }): Entries;
};

type Entries = ObjectMeta['managedFields'];

/** Another way to an object. */
export type Subresource =
  /** The same object under other rules: `status`, `resize`, `approval`. */
  | { readonly type: 'part'; readonly verbs: readonly string[]; readonly strategy: Strategy }
  /** Another kind made of the object, and written through to it: `scale`. */
  | {
      readonly type: 'view';
      readonly kind: Kind;
      readonly verbs: readonly string[];
      readonly serializer: Serializer;
      show(object: KubeObject): KubeObject;
      /** Who owns which field after a write by this way, where that is not tracked as any other write is. */
      owners?(entries: ObjectMeta['managedFields']): ObjectMeta['managedFields'];
      /** How the fields of the view are owned, where whoever writes it comes to own them. */
      readonly tracking?: ViewTracking;
      /** What is shown to those who only read, where that is not the same. */
      read?(object: KubeObject): KubeObject;
      write(view: KubeObject, object: KubeObject): KubeObject;
      validate(view: KubeObject): Iterable<Cause>;
      readonly mergeType: MergeType;
    }
  /** Something done to the object by POST: `binding`, `eviction`, `token`. */
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
  /** A conversation with what the object stands for: `exec`, `log`, `proxy`. */
  | {
      readonly type: 'connect';
      readonly methods: readonly string[];
      /** Asks admission, and answers. What it throws is answered with before anything else was. */
      converse(context: RequestContext, exchange: Exchange, headers: Headers): Promise<void>;
    };

/** An object found, and the version of it that was asked for. */
export type Found = { readonly cached: Cached; readonly object: KubeObject };

/** The kind as messages name it. */
export function called({ calledKind, kind }: Resource): { readonly group: string; readonly kind: string } {
  return calledKind ?? kind;
}
