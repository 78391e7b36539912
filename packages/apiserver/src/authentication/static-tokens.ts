import type { User } from '../user.ts';
import type { TokenAuthenticator } from './token.ts';

/** Authenticates static tokens of a CSV file. Each line has the token, the user, the uid and, in quotes, the groups. */
export function staticTokens(csv: string): TokenAuthenticator {
  const users = new Map<string, User>();
  csv.split(/\r?\n/).forEach((line, index) => {
    if (line.trim() === '') return;
    const [token = '', username = '', uid = '', groups = ''] = fieldsOf(line);
    if (token === '' || username === '') throw new Error(`line ${index + 1} of the token file lacks a token or a user`);
    const names = groups.split(',').filter((name) => name !== '');
    users.set(token, { username, ...(uid === '' ? {} : { uid }), groups: names });
  });
  return {
    authenticate(token) {
      const user = users.get(token);
      return user && { user };
    },
  };
}

function fieldsOf(line: string): readonly string[] {
  const fields = line.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g) ?? [];
  return fields.map((field) => {
    const text = field.replace(/,$/, '').trim();
    return text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text;
  });
}
