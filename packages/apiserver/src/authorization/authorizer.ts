import type { User } from '../user.ts';

/** What someone wants to do. */
export type Attributes = {
  readonly user: User;
  readonly verb: string;
} & (
  | {
      readonly resource: true;
      readonly group: string;
      readonly version: string;
      readonly plural: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      /** The selectors of a list, watch or deletecollection, for those who may see only a part. */
      readonly fieldSelector?: string;
      readonly labelSelector?: string;
    }
  | { readonly resource: false; readonly path: string }
);

export type Decision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion';
  /** Why, where there is something to say. */
  readonly reason: string;
};

/** Says who may do what. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>;
}
