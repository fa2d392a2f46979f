/** The commands of Redis 6.0, each with how many words it takes, its name among them; a negative number is the least. @see https://redis.io/docs/latest/commands/command/ */

const NAMES: Readonly<Record<string, string>> = {
  "-7": "xreadgroup",
  "-6": "georadius georadius_ro migrate xclaim",
  "-5": "geoadd georadiusbymember georadiusbymember_ro xadd",
  "-4": "bitop geodist hmset hset restore restore-asking xack xrange xread xrevrange zadd zinterstore zrange zrangebylex zrangebyscore zrevrange zrevrangebylex zrevrangebyscore zunionstore",
  "-3": "bitpos blpop brpop bzpopmax bzpopmin eval evalsha hdel hmget hscan lpos lpush lpushx mset msetnx rpush rpushx sadd sdiffstore set sinterstore srem sscan sunionstore xdel xpending zrem zscan",
  "-2": "acl auth bitcount bitfield bitfield_ro client cluster config debug del exists geohash geopos hello latency memory mget module object pfadd pfcount pfmerge psubscribe pubsub scan script sdiff sinter slowlog sort spop srandmember stralgo subscribe sunion touch unlink watch xgroup xinfo xtrim zpopmax zpopmin",
  "-1": "bgsave command flushall flushdb host: info lolwut ping post punsubscribe replconf shutdown unsubscribe",
  1: "asking bgrewriteaof dbsize discard exec lastsave monitor multi pfselftest randomkey readonly readwrite role save sync time unwatch",
  2: "decr dump echo get hgetall hkeys hlen hvals incr keys llen lpop persist pttl rpop scard select smembers strlen ttl type xlen zcard",
  3: "append decrby expire expireat getbit getset hexists hget hstrlen incrby incrbyfloat lindex move pexpire pexpireat pfdebug psync publish rename renamenx replicaof rpoplpush setnx sismember slaveof swapdb wait xsetid zrank zrevrank zscore",
  4: "brpoplpush getrange hincrby hincrbyfloat hsetnx lrange lrem lset ltrim psetex setbit setex setrange smove substr zcount zincrby zlexcount zremrangebylex zremrangebyrank zremrangebyscore",
  5: "linsert",
};
const ARITIES: ReadonlyMap<string, number> = new Map(Object.entries(NAMES).flatMap(([arity, names]) => names.split(" ").map((name) => [name, Number(arity)] as const)));
const MAX_REPEATED = 128;

/** @param words Of a command, its name first. @returns What is wrong with it before anything else is looked at; null for a command that there is, with as many words as it takes. */
export function faultOf(words: readonly string[]): string | null {
  const [verb = "", ...rest] = words;
  const name = verb.toLowerCase();
  const arity = ARITIES.get(name);
  if (arity === undefined) return `unknown command \`${verb}\`, with args beginning with: ${repeat(rest)}`.replaceAll(/[\r\n]/g, " ");
  return (arity < 0 ? words.length >= -arity : words.length === arity) ? null : `wrong number of arguments for '${name}' command`;
}

function repeat(words: readonly string[]): string {
  let text = "";
  for (const word of words) if (text.length < MAX_REPEATED) text += `\`${word.slice(0, MAX_REPEATED - text.length)}\`, `;
  return text;
}
