/** How much a label looks like words: by its pairs of neighboring letters. */

/**
 * For each letter, how often each letter follows it, on a scale of 0 to 9: 4.5 is as often as by chance, and 1.5 more is twice as often. Counted by
 * us in some thousand words that names are made of, in five languages, and of brands.
 */
const FOLLOWS = [
  "03650251501757040756311041", "82008000600700700700700020", "70207008506500800516500010",
  "71039030800001710531410040", "71555030300647230866232320", "70007600800600700606500040",
  "70009026800524600600500030", "80008000700004800406500000", "52755350003648621567140000",
  "71117111511111911111711111", "60009400800005000445500060", "80149100800610710004410050",
  "94018000700030870011400000", "60577160604203500058310022", "32440440303657650735745110",
  "70027004600700750822500020", "22222222222222222222922222", "71459220703224700246320040",
  "50507006604322651068502020", "70308007700300700734503040", "55455110520558350867000010",
  "60009000900000700000300000", "80008006800306700330000000", "26626222222222292228222262",
  "81118411111414861166111111", "71118111911111711111111117",
] as const;

/** A letter beside a digit is rare, a digit beside a digit is a year or a number. */
const LETTER_AND_DIGIT = 2;
const TWO_DIGITS = 3.5;
/** What cannot be judged is taken for words. */
const LIKE_WORDS = 9;
const LETTERS = 26;

/** By two letters as one number. */
const PAIRS = Uint8Array.from(FOLLOWS.flatMap((row) => Array.from(row, Number)));

/** Below this a label of eight letters or more looks made by a machine: of labels of random letters nine in ten are, of words and pairs of them one in a hundred. */
export const RANDOM_BELOW = 3.6;

/**
 * @param text In any letter case; what is no letter and no digit parts words.
 * @returns 0 to 9, the mean of all pairs; random letters have about 2.5, words 6.
 */
export function scorePairs(text: string): number {
  let sum = 0;
  let pairs = 0;
  let before = kindOf(text.charCodeAt(0));
  for (let index = 1; index < text.length; index += 1) {
    const now = kindOf(text.charCodeAt(index));
    if (before !== PARTING && now !== PARTING) {
      pairs += 1;
      if (before < LETTERS && now < LETTERS) sum += PAIRS[before * LETTERS + now] as number;
      else sum += before === now ? TWO_DIGITS : LETTER_AND_DIGIT;
    }
    before = now;
  }
  return pairs === 0 ? LIKE_WORDS : sum / pairs;
}

const DIGIT = 26;
const PARTING = 27;

/** @returns 0 to 25 for a letter, `DIGIT` or `PARTING`. */
function kindOf(code: number): number {
  const folded = code | 0x20;
  if (folded >= 0x61 && folded <= 0x7a) return folded - 0x61;
  return code >= 0x30 && code <= 0x39 ? DIGIT : PARTING;
}
