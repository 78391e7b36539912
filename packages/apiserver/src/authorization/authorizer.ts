import type { User } from '../user.ts';

/** Authorization attributes of a request. */
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
      /** Selectors of a list, watch or deletecollection, for authorizers that restrict by selector. */
      readonly fieldSelector?: string;
      readonly labelSelector?: string;
    }
  | { readonly resource: false; readonly path: string }
);

export type Decision = {
  readonly verdict: 'allow' | 'deny' | 'no-opinion';
  /** Reason of the decision; may be empty. */
  readonly reason: string;
};

/** Authorizer: decides whether a user may perform an action. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>;
}
