/**
 * Monthly bills of one provider each: the same words every month, other numbers, dates and amounts.
 * They must stay apart.
 */
import type { DemoDocument } from "./document.ts";
import { slug } from "./document.ts";
import { addDays, addressLine, isoDate, longDate, money, MONTHS, person } from "./facts.ts";
import type { Random } from "./random.ts";

interface Provider {
  readonly name: string;
  readonly code: string;
  readonly unit: string;
  /** What it says every month. */
  readonly boilerplate: readonly string[];
}

const PROVIDERS: readonly Provider[] = [
  {
    name: "Northwind Water",
    code: "NW",
    unit: "cubic metres",
    boilerplate: [
      "Thank you for letting us supply fresh water to your home and carry your waste water away. The reading above was taken by our own staff; if it differs from the dial, tell us within a week and we will send somebody round.",
      "Leaks on your side of the stop tap are yours to mend. A toilet that runs all day wastes more than a family drinks in a month, so please listen for it at night.",
      "We collect the amount from the bank account you named. Should the collection fail twice, a reminder fee is added to the following bill.",
      "Hardness in your district is moderate, so descale the kettle now and then and use the lower mark of your washing machine. The full analysis hangs in the town hall and is renewed after each inspection of the springs. If your household grows or shrinks, tell us, and we will adjust what we expect you to use.",
    ],
  },
  {
    name: "Lumen Power",
    code: "LP",
    unit: "kilowatt hours",
    boilerplate: [
      "Your electricity comes from the river works and the two wind parks on the ridge. Your tariff is Evening Plus, under which power used between supper and breakfast costs a third less.",
      "If you move house, give us the reading on the day you hand over the keys. We close the account and send what is left over to you by cheque.",
      "Our emergency line is staffed day and night. Stay away from fallen cables, keep others away, and never assume that a silent cable is dead.",
      "An old refrigerator in the cellar is often the hungriest thing in the house. Borrow one of our pocket meters at the counter, free of charge, and find out what yours takes in a night. Those who generate power on their own roof are paid for what they feed in, and the sum is set off against the bill of the following spring.",
    ],
  },
  {
    name: "Tideway Telephone",
    code: "TT",
    unit: "minutes",
    boilerplate: [
      "The line rental is charged in advance and calls in arrears. Calls to other customers of ours are free at any hour, however long you talk.",
      "You can block numbers that bother you by dialling the star key twice after hanging up. The block lasts until you lift it in the same way.",
      "Questions about this bill are best put to us in the morning, when the queue is short. Have your customer card at hand, since we must ask for it.",
      "The new directory is out and can be fetched from any kiosk that shows our sign. Entries are taken over unless you object, and a second name on the same line may be listed without charge. Please do not lend your telephone to strangers at the door, however friendly they are, and report crackling on the line before the autumn gales.",
    ],
  },
  {
    name: "Hearth Gas",
    code: "HG",
    unit: "cubic metres",
    boilerplate: [
      "We converted your meter reading into energy with the heating value published by the network, which changes a little every month with the origin of the gas.",
      "A boiler that has been serviced burns a tenth less. Our fitters have free days in early summer and will gladly look at yours while you need no heating.",
      "If you smell gas, open the windows, touch no switch, leave the house and ring us from outside.",
      "The meter in your house is exchanged when its seal runs out. We write to you well ahead and need a grown-up at home for half an hour. Keep the cupboard in front of it clear, do not paint the pipes, and let nobody work on them who cannot show our badge. The chimney must be swept even when only gas is burnt.",
    ],
  },
  {
    name: "Quickfibre Broadband",
    code: "QF",
    unit: "gigabytes",
    boilerplate: [
      "Your connection runs at full speed whatever you use; the volume shown is for your information and never leads to a surcharge.",
      "The router remains our property. When it shows an amber light for more than an hour, pull its plug, count to twenty and plug it in again before you call.",
      "We are laying new lines through the old town. For a few nights there may be short breaks, for which we apologise now and will credit a day each.",
      "Choose a long password for your wireless network and do not write it on the router itself. A box that stands on the floor behind the sofa reaches half as far as one on a shelf. Should films stutter in the evening, try the cable first and complain second; our technicians answer until midnight and are glad of patient callers.",
    ],
  },
];

/**
 * The bills of one provider to one customer, month by month. There are five providers; `index`
 * counts on with other customers.
 */
export function inventBills(random: Random, index: number, months: number): DemoDocument[] {
  const provider = PROVIDERS[index % PROVIDERS.length] as Provider;
  const customer = `${person(random)}, ${addressLine(random)}`;
  const account = String(random.integer(10_000_000, 99_999_999));
  const price = random.integer(9, 40);
  const year = random.integer(2020, 2023);
  const firstMonth = random.integer(0, 11);
  let reading = random.integer(2000, 60_000);
  return Array.from({ length: months }, (_, month) => {
    const used = random.integer(41, 389);
    const before = reading;
    reading += used;
    const fromMs = Date.UTC(year, firstMonth + month, 1);
    const cents = used * price + random.integer(405, 1995);
    return billOf(provider, {
      customer,
      account,
      fromMs,
      untilMs: addDays(Date.UTC(year, firstMonth + month + 1, 1), -1),
      before,
      reading,
      used,
      cents,
      number: random.integer(100_000, 999_999),
    });
  });
}

interface Figures {
  readonly customer: string;
  readonly account: string;
  readonly number: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly before: number;
  readonly reading: number;
  readonly used: number;
  readonly cents: number;
}

function billOf(provider: Provider, figures: Figures): DemoDocument {
  const billedMs = addDays(figures.untilMs, 3);
  const month = new Date(figures.fromMs);
  const tax = Math.round(figures.cents / 5);
  return {
    folder: "bills",
    name: `${slug(provider.name)}-${isoDate(figures.fromMs).slice(0, 7)}-${figures.account.slice(-3)}`,
    writtenAtMs: billedMs,
    title: `${provider.name}: bill for ${MONTHS[month.getUTCMonth()]} ${month.getUTCFullYear()}`,
    paragraphs: [
      `To ${figures.customer}\nInvoice number: ${provider.code}-${figures.number}\nAccount number: ${figures.account}\nDate: ${longDate(billedMs)}`,
      `Period ${longDate(figures.fromMs)} to ${longDate(figures.untilMs)}. Last reading ${figures.before}, this reading ${figures.reading}, used ${figures.used} ${provider.unit}.`,
      `Net £${money(figures.cents)}, tax £${money(tax)}, total due £${money(figures.cents + tax)} by ${longDate(addDays(billedMs, 21))}.`,
      ...provider.boilerplate,
    ],
  };
}
