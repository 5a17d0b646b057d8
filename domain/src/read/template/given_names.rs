//! Given names that are common in Central and Western Europe and in the Americas. Not from a census: a list to be added to.
//!
//! Names that are also words of programs or of sentences are left out (`Max`, `Mark`, `Grace`, `Ruby`, `Victoria`).

use alloc::string::String;

/// Whether a word is a given name. A double name counts by its first half: `Jean-Luc`.
pub fn is_given_name(word: &str) -> bool {
    let first = word.split('-').next().unwrap_or(word);
    let mut chars = first.chars();
    let is_capital = first.len() > 2 && first.chars().all(char::is_uppercase);
    match chars.next().filter(|_| is_capital) {
        Some(initial) => {
            let rest = chars.flat_map(char::to_lowercase);
            NAMES.binary_search(&&*[initial].into_iter().chain(rest).collect::<String>()).is_ok()
        }
        None => NAMES.binary_search(&first).is_ok(),
    }
}

/// Whether a word is also a given name: it is one if another name follows.
pub fn is_also_given_name(word: &str) -> bool {
    #[rustfmt::skip]
    const ALSO: &[&str] = &[
        "Alex", "Ben", "Bill", "Chris", "Dan", "Felix", "Finn", "Frank", "Grace", "Hugo", "Iris", "Jack", "Jan", "Jim", "Joe", "Julia",
        "Mark", "Max", "Milan", "Nick", "Oscar", "Pascal", "Rob", "Robin", "Roman", "Rose", "Sam", "Tim", "Tom", "Victor", "Will",
    ];
    ALSO.contains(&word)
}

/// The names, sorted by their bytes.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "Aaron", "Abigail", "Adam", "Adriana", "Agata", "Agnes", "Agnieszka", "Ahmed", "Aisha", "Alain", "Alan", "Albert",
    "Alberto", "Alejandra", "Alejandro", "Alena", "Alessandra", "Alessandro", "Alexander", "Alexandra", "Alexandre",
    "Alexandru", "Alexis", "Alfonso", "Alfred", "Ali", "Alice", "Alicia", "Alina", "Amanda", "Amelia", "Amy", "Amélie", "Ana",
    "Anastasia", "Anders", "Andrea", "Andreas", "Andrei", "Andrej", "Andrew", "Andrzej", "André", "Andrés", "Anette", "Angela",
    "Angelika", "Angelo", "Anita", "Anja", "Anke", "Anna", "Anne", "Annette", "Annika", "Anthony", "Antoine", "Anton",
    "Antonia", "Antonio", "António", "Arjun", "Arnaud", "Arne", "Arthur", "Astrid", "Aurélie", "Axel", "Ayşe", "Barbara",
    "Bastian", "Beata", "Beate", "Beatriz", "Benedikt", "Benjamin", "Benoît", "Bernadette", "Bernard", "Bernd", "Bernhard",
    "Bettina", "Birgit", "Björn", "Bjørn", "Brandon", "Brenda", "Brian", "Brigitte", "Britta", "Bruno", "Camila", "Camille",
    "Carina", "Carla", "Carlo", "Carlos", "Carmen", "Carol", "Caroline", "Catarina", "Catherine", "Cecilia",
    "Charles", "Chiara", "Chloé", "Christa", "Christian", "Christiane", "Christina", "Christine", "Christoph",
    "Christophe", "Christopher", "Claire", "Clara", "Claudia", "Claudio", "Clément", "Cornelia", "Cristina",
    "Cynthia", "Céline", "Dagmar", "Damien", "Daniel", "Daniela", "Daniele", "Danielle", "Dariusz", "David", "Deborah", "Denis",
    "Dennis", "Diana", "Diego", "Dieter", "Dietmar", "Dimitri", "Dirk", "Dominik", "Dominique", "Donald", "Donna", "Dorota",
    "Dorothea", "Douglas", "Ebru", "Edith", "Eduardo", "Edward", "Elena", "Eleonora", "Elias", "Elisa", "Elisabeth", "Elise",
    "Elizabeth", "Elke", "Ellen", "Elodie", "Emil", "Emilia", "Emilie", "Emilio", "Emily", "Emine", "Emma", "Emmanuel",
    "Enrico", "Enrique", "Eric", "Erich", "Erik", "Erika", "Ernst", "Esther", "Eugen", "Eva", "Evelyn", "Ewa", "Fabian",
    "Fabio", "Fatima", "Fatma", "Federica", "Federico", "Ferdinand", "Fernanda", "Fernando", "Filip", "Filippo",
    "Florian", "Francesca", "Francesco", "Francine", "Francisco", "Franz", "Franziska", "François", "Françoise", "Fredrik",
    "Friederike", "Friedrich", "Frédéric", "Gabriel", "Gabriela", "Gabriele", "Georg", "George", "Georges", "Gerald", "Gerd",
    "Gerhard", "Gertrud", "Giacomo", "Gianluca", "Gilles", "Giorgio", "Giovanna", "Giovanni", "Giulia", "Giuseppe", "Gloria",
    "Gonzalo", "Gregor", "Grzegorz", "Gudrun", "Guido", "Guillaume", "Guillermo", "Gustav", "Gustavo", "Günter", "Günther",
    "Hanna", "Hannah", "Hannes", "Hans", "Harald", "Hartmut", "Hasan", "Hatice", "Heather", "Heidi", "Heike", "Heiko",
    "Heinrich", "Heinz", "Helena", "Helene", "Helga", "Helmut", "Henri", "Henrik", "Henry", "Herbert", "Hermann", "Hilde",
    "Hildegard", "Holger", "Horst", "Howard", "Hélène", "Ignacio", "Igor", "Ilona", "Ines", "Inga", "Inge", "Ingeborg", "Ingo",
    "Ingrid", "Irena", "Irene", "Irina", "Isaac", "Isabel", "Isabella", "Isabelle", "Ivan", "Ivana", "Jacek", "Jacob",
    "Jacqueline", "Jacques", "Jakob", "Jakub", "James", "Jana", "Jane", "Janet", "Janina", "Janine", "Javier", "Jean",
    "Jeanette", "Jeffrey", "Jennifer", "Jens", "Jeremy", "Jessica", "Jesús", "Joachim", "Joan", "Joanna", "Joao", "Johann",
    "Johanna", "Johannes", "John", "Jonas", "Jonathan", "Jordi", "Jorge", "Josef", "Joseph", "Joshua", "José", "João", "Juan",
    "Judith", "Juliane", "Julie", "Julien", "Juliette", "Justin", "Jutta", "Jörg", "Jürgen", "Kai", "Kamil", "Karen", "Karin",
    "Karl", "Karolina", "Katarina", "Katarzyna", "Katharina", "Katherine", "Kathleen", "Kathrin", "Katja", "Katrin", "Kerstin",
    "Kevin", "Kimberly", "Klara", "Klaus", "Konrad", "Kristin", "Kristina", "Krzysztof", "Kurt", "Larissa", "Lars", "Laura",
    "Laure", "Laurent", "Lea", "Lena", "Leon", "Leonardo", "Leonie", "Lina", "Linda", "Lisa", "Lorenz", "Lorenzo", "Louis",
    "Louise", "Loïc", "Luc", "Luca", "Lucas", "Lucia", "Lucie", "Lucía", "Ludwig", "Luigi", "Luis", "Luisa", "Lukas", "Lutz",
    "Luís", "Léa", "Maciej", "Magdalena", "Malgorzata", "Manfred", "Manon", "Manuel", "Manuela", "Marc", "Marcel", "Marcela",
    "Marcin", "Marco", "Marcos", "Marcus", "Marek", "Margaret", "Margarete", "Margit", "Margot", "Maria", "Mariana", "Marianne",
    "Marie", "Marina", "Mario", "Marion", "Marius", "Markus", "Marlene", "Marta", "Martha", "Martin", "Martina", "Martine",
    "María", "Massimo", "Mateusz", "Mathias", "Mathieu", "Matilda", "Matteo", "Matthew", "Matthias", "Mauro", "Maximilian",
    "Małgorzata", "Mehmet", "Meike", "Melanie", "Melissa", "Michael", "Michaela", "Michal", "Michał", "Michel",
    "Michele", "Michelle", "Miguel", "Mikael", "Mike", "Mohamed", "Mohammed", "Monica", "Monika", "Monique", "Moritz",
    "Muhammad", "Mustafa", "Mónica", "Nadia", "Nadine", "Nadja", "Natalia", "Natalie", "Nathalie", "Nicholas", "Nicola",
    "Nicolas", "Nicole", "Niklas", "Nikola", "Nikolai", "Nina", "Noah", "Nora", "Norbert", "Olaf", "Oleg", "Olga", "Oliver",
    "Olivia", "Olivier", "Ottmar", "Otto", "Pablo", "Paolo", "Pascale", "Patricia", "Patrick", "Patrizia", "Patryk", "Paul",
    "Paula", "Paulina", "Pavel", "Paweł", "Pedro", "Peter", "Petra", "Philipp", "Philippe", "Pierre", "Piet", "Pieter",
    "Pietro", "Piotr", "Priya", "Rachel", "Rafael", "Rafał", "Raffaele", "Rainer", "Ralf", "Ramón", "Raphaël", "Raquel", "Raúl",
    "Rebecca", "Reinhard", "Renata", "Renate", "René", "Ricardo", "Riccardo", "Richard", "Robert", "Roberta",
    "Roberto", "Rodrigo", "Roger", "Roland", "Rolf", "Romain", "Rosemarie", "Rudolf", "Rui", "Ryan", "Rüdiger",
    "Sabine", "Samantha", "Samuel", "Sandra", "Sara", "Sarah", "Sascha", "Sebastian", "Sergei", "Sergey", "Sergio", "Sharon",
    "Siegfried", "Sigrid", "Silke", "Silvia", "Simon", "Simona", "Simone", "Sofia", "Sofie", "Sonja", "Sophia", "Sophie",
    "Stefan", "Stefania", "Stefanie", "Stefano", "Steffen", "Stephan", "Stephanie", "Stephen", "Steven", "Stéphane", "Susan",
    "Susana", "Susanne", "Svantje", "Svenja", "Svetlana", "Sylvia", "Sylvie", "Szymon", "Sébastien", "Sören", "Tamara", "Tanja",
    "Tatiana", "Teresa", "Theresa", "Thierry", "Thomas", "Thorsten", "Tiago", "Timothy", "Tobias", "Tomasz", "Tomás", "Torsten",
    "Tristan", "Udo", "Ulrich", "Ulrike", "Ursula", "Ute", "Uwe", "Valentina", "Valeria", "Valérie", "Vanessa", "Vera",
    "Verena", "Veronica", "Veronika", "Vicente", "Viktor", "Vincent", "Vincenzo", "Virginie", "Vladimir", "Véronique", "Walter",
    "Waltraud", "Werner", "Wilhelm", "William", "Wojciech", "Wolfgang", "Xavier", "Yusuf", "Yves", "Yvonne", "Zeynep", "Zoe",
    "Zofia", "Zoé", "Zoë", "Álvaro", "Åsa", "Élodie", "Étienne", "Özlem", "Łukasz",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_no_word_of_errors() {
        assert!(NAMES.is_sorted_by(|a, b| a < b));
        for name in NAMES {
            assert!(!crate::read::vocabulary::holds(&name.to_lowercase()), "{name}");
        }
        assert!(is_given_name("Jean-Luc") && is_given_name("ANNA") && !is_given_name("Max"));
    }
}
