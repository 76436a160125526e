// Numbers as people read them, in Latin digits in all languages, as in Morocco.

type Language = 'en' | 'fr' | 'ar';

export const noBreakSpace = '\u00a0';

/** The digits with the thousands apart: `1,200` in English, else `1 200` with a no-break space. */
export function grouped(number: number | string, language: Language): string {
  const group = language === 'en' ? ',' : noBreakSpace;
  return String(number).replace(/\B(?=(\d{3})+$)/g, group);
}

/** Units of time, by the names that numbers of them have in texts. */
const units = { seconds: 'second', minutes: 'minute', days: 'day' } as const;

/** A number with its unit, if its name is one of time: `7 days`, `7 jours`, `7 أيام`. */
export function counted(number: number, name: string, language: Language): string {
  const unit = units[name as keyof typeof units];
  if (unit === undefined) return grouped(number, language);
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    numberingSystem: 'latn',
    useGrouping: false,
  });
  return format.format(number);
}

/**
 * A text whose spaces do not break where a line must not: between the groups of a number, and in
 * French before the signs of two parts and inside the guillemets.
 */
export function spaced(text: string, language: Language): string {
  if (language === 'en') return text;
  const numbers = text.replace(/(?<=\d) (?=\d{3})/g, noBreakSpace);
  return language === 'fr' ? numbers.replace(/ (?=[?!:;»])|(?<=«) /g, noBreakSpace) : numbers;
}
