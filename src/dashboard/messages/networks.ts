// The texts about payment networks, in the room for settings.

import { sayFrom } from './say.ts';

export const networkMessages = {
  networks: { en: 'Payment networks', fr: 'Réseaux de paiement', ar: 'شبكات الدفع' },
  none: {
    en: 'No network is connected, so no payment can be taken in this mode.',
    fr: 'Aucun réseau n’est connecté : aucun paiement n’est possible dans ce mode.',
    ar: 'لا توجد شبكة متصلة، فلا يمكن قبول أي دفعة في هذا الوضع.',
  },
  card: { en: 'Cards', fr: 'Cartes', ar: 'البطاقات' },
  cash: { en: 'Cash', fr: 'Espèces', ar: 'النقد' },
  simulator: { en: 'Simulator', fr: 'Simulateur', ar: 'المحاكي' },
  sealed: { en: 'stored, not shown', fr: 'enregistré, non affiché', ar: 'محفوظ ولا يُعرض' },
  connect_cash: { en: 'Connect a cash network', fr: 'Connecter un réseau d’espèces', ar: 'ربط شبكة نقدية' },
  address: {
    en: 'Address of the agents’ server',
    fr: 'Adresse du serveur des agents',
    ar: 'عنوان خادم الوكلاء',
  },
  address_hint: {
    en: 'An https address. Its operator implements the contract with integrators.',
    fr: 'Une adresse https. Son exploitant met en œuvre le contrat des intégrateurs.',
    ar: 'عنوان https. يطبّق مشغّله عقد المُدمِجين.',
  },
  address_invalid: {
    en: 'Give a public https address, without a user name.',
    fr: 'Indiquez une adresse https publique, sans nom d’utilisateur.',
    ar: 'أدخل عنوان https عاماً دون اسم مستخدم.',
  },
  secret: { en: 'Shared secret', fr: 'Secret partagé', ar: 'السر المشترك' },
  secret_hint: {
    en: 'At least 16 characters. It signs in both directions and is never shown again.',
    fr: 'Au moins 16 caractères. Il signe dans les deux sens et n’est plus jamais affiché.',
    ar: '16 محرفاً على الأقل. يوقّع في الاتجاهين ولا يُعرض مرة أخرى.',
  },
  secret_invalid: {
    en: 'Give a secret of at least 16 characters.',
    fr: 'Indiquez un secret d’au moins 16 caractères.',
    ar: 'أدخل سراً من 16 محرفاً على الأقل.',
  },
  report_to: { en: 'Reports are posted to', fr: 'Les rapports sont envoyés à', ar: 'تُرسل التقارير إلى' },
  connect: { en: 'Connect', fr: 'Connecter', ar: 'ربط' },
  disconnect: { en: 'Disconnect', fr: 'Déconnecter', ar: 'فصل' },
} as const;

export const sayNetworks = sayFrom(networkMessages);
