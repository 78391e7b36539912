import { impersonate as impersonateUser } from '../authentication/impersonation.ts';
import type { HttpPipelineRequest } from './http-pipeline.ts';
import type { Stage } from './request.ts';

/** Applies the impersonation headers, if the sender may impersonate the user. The audit log names both users. */
export const impersonate: Stage<HttpPipelineRequest> = {
  name: 'Impersonate',
  transports: 'HTTP',
  failsWith: [403, 500],
  async run(request) {
    const { context, core, httpRequest } = request;
    const user = await impersonateUser(core.authorizer, context.user, httpRequest);
    if (user === context.user) return;
    request.context = { ...context, user };
    request.record?.impersonated(user);
  },
};
