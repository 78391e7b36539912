import type { RequestContext } from '../context.ts';
import type { Headers } from './exchange.ts';

/** All warnings together may be this long, in characters; beyond it each is cut. */
const maxTotal = 4096;
const maxEach = 256;

/** Each warning in a header of its own, as kubectl shows them. */
export function warningHeaders({ warnings }: RequestContext): Headers {
  if (warnings.size === 0) return {};
  const texts = [...warnings].map((text) => [...text.replace(/[\x00-\x1f\x7f]/g, ' ')]);
  const total = texts.reduce((sum, characters) => sum + characters.length, 0);
  return {
    // Headers are written byte by byte; Kubernetes writes UTF-8.
    warning: texts.map((characters) => {
      const shown = (total > maxTotal ? characters.slice(0, maxEach) : characters).join('');
      return Buffer.from(`299 - "${shown.replace(/["\\]/g, '\\$&')}"`).toString('latin1');
    }),
  };
}
